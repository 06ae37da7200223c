// SPDX-License-Identifier: Apache-2.0
#include "server/audit/audit_log.hpp"

#include "server/audit/file_audit.hpp"
#include "server/audit/memory_audit.hpp"

namespace holdfast::server {

bool AuditQuery::fits(const AuditFacts& entry) const {
  if (!what.empty() && entry.what != what) return false;
  if (!principal.empty() && entry.principal != principal) return false;
  // Points in time are written so that they are ordered as texts are.
  if (entry.at < since || (!until.empty() && entry.at >= until)) return false;
  return entry.name.starts_with(prefix) && (!allowed || allowed(entry.name));
}

Result<std::unique_ptr<AuditLog>> make_audit_log(const AuditOptions& options) {
  if (options.file.empty()) return std::make_unique<MemoryAudit>();
  return FileAudit::open(options);
}

}  // namespace holdfast::server
