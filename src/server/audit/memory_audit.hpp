// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/audit_log.hpp"

#include <deque>
#include <mutex>

namespace holdfast::server {

// The newest entries only; the rest is forgotten, and all of it with the server.
class MemoryAudit : public AuditLog {
 public:
  explicit MemoryAudit(std::size_t kept = 10'000);

  void append(AuditEntry entry) override;
  Result<AuditPage> page(const AuditQuery& query) override;
  AuditStats stats() const override;

 private:
  const std::size_t kept_;
  mutable std::mutex mutex_;  // what follows
  std::uint64_t next_seq_;
  std::uint64_t written_ = 0;
  std::deque<AuditEntry> entries_;  // the last one has the number next_seq_ - 1
};

}  // namespace holdfast::server
