// SPDX-License-Identifier: Apache-2.0
#include "server/locks/waiting_room.hpp"

#include <fmt/format.h>

namespace holdfast::server {

Result<WaitingRoom::Ticket> WaitingRoom::enter(std::string_view name, std::uint64_t party) {
  auto wait = std::make_shared<Wait>();
  wait->name = name;
  wait->party = party;
  const std::lock_guard lock(mutex_);
  if (total_.load(std::memory_order_relaxed) >= max_total_) {
    return fail(Errc::limit_reached,
                fmt::format("max_waiters: {} already wait through this server", max_total_));
  }
  auto line = by_name_.find(name);
  if (line == by_name_.end()) line = by_name_.emplace(wait->name, Line{}).first;
  if (line->second.size() >= max_per_name_) {
    return fail(Errc::limit_reached,
                fmt::format("max_waiters_per_name: {} already wait for '{}' through this server",
                            max_per_name_, name));
  }
  line->second.emplace(party, wait);
  total_.fetch_add(1, std::memory_order_relaxed);
  return Ticket(*this, std::move(wait));
}

bool WaitingRoom::end_victim(std::string_view name, std::uint64_t party) {
  std::shared_ptr<Wait> victim;
  {
    const std::lock_guard lock(mutex_);
    const auto line = by_name_.find(name);
    if (line == by_name_.end()) return false;
    const auto found = line->second.find(party);
    if (found == line->second.end()) return false;
    victim = found->second;
  }
  victim->is_victim = true;
  victim->stop.request_stop();
  return true;
}

void WaitingRoom::leave(const Wait& wait) {
  const std::lock_guard lock(mutex_);
  total_.fetch_sub(1, std::memory_order_relaxed);
  const auto line = by_name_.find(wait.name);
  auto [at, end] = line->second.equal_range(wait.party);
  while (at != end && at->second.get() != &wait) ++at;
  if (at != end) line->second.erase(at);
  if (line->second.empty()) by_name_.erase(line);
}

}  // namespace holdfast::server
