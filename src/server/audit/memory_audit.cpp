// SPDX-License-Identifier: Apache-2.0
#include "server/audit/memory_audit.hpp"

#include "runtime/clock.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::server {

// By the clock, so that a cursor of the server before means the same entries: none of these.
MemoryAudit::MemoryAudit(std::size_t kept) : kept_(kept), next_seq_(runtime::wall_clock_us()) {}

void MemoryAudit::append(AuditEntry entry) {
  const std::lock_guard lock(mutex_);
  entries_.push_back(std::move(entry));
  ++next_seq_;
  ++written_;
  if (entries_.size() > kept_) entries_.pop_front();
}

Result<AuditPage> MemoryAudit::page(const AuditQuery& query) {
  if (query.limit < 1 || query.limit > max_audit_page) {
    return fail(Errc::bad_input, "limit must be from 1 to 1000");
  }
  const std::lock_guard lock(mutex_);
  AuditPage page;
  const auto first = next_seq_ - entries_.size();
  const bool is_dated = !query.since.empty() || !query.until.empty();
  auto seq = std::clamp(query.cursor.value_or(next_seq_), first, next_seq_);
  for (; seq > first; --seq) {
    const auto& entry = entries_[seq - 1 - first];
    const auto at = is_dated ? text::format_time(entry.at) : std::string();
    if (!query.fits({entry.name, entry.what, entry.principal, at})) continue;
    if (page.entries.size() == query.limit) {
      page.next = seq;
      break;
    }
    page.entries.push_back(to_json(entry, seq - 1));
  }
  return page;
}

AuditStats MemoryAudit::stats() const {
  const std::lock_guard lock(mutex_);
  return {.written = written_};
}

}  // namespace holdfast::server
