// SPDX-License-Identifier: Apache-2.0
#include "server/audit/audit_log.hpp"

#include "server/audit/file_audit.hpp"
#include "server/audit/memory_audit.hpp"

namespace holdfast::server {

bool AuditQuery::fits(std::string_view name) const {
  return name.starts_with(prefix) && (!allowed || allowed(name));
}

Result<std::unique_ptr<AuditLog>> make_audit_log(const AuditOptions& options) {
  if (options.file.empty()) return std::make_unique<MemoryAudit>();
  return FileAudit::open(options);
}

}  // namespace holdfast::server
