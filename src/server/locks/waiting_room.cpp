// SPDX-License-Identifier: Apache-2.0
#include "server/locks/waiting_room.hpp"

#include <fmt/format.h>

namespace holdfast::server {

Result<WaitingRoom::Ticket> WaitingRoom::enter(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (total_.load(std::memory_order_relaxed) >= max_total_) {
    return fail(Errc::limit_reached,
                fmt::format("max_waiters: {} already wait through this server", max_total_));
  }
  auto here = by_name_.find(name);
  if (here == by_name_.end()) here = by_name_.emplace(std::string(name), 0).first;
  if (here->second >= max_per_name_) {
    return fail(Errc::limit_reached,
                fmt::format("max_waiters_per_name: {} already wait for '{}' through this server",
                            max_per_name_, name));
  }
  ++here->second;
  total_.fetch_add(1, std::memory_order_relaxed);
  return Ticket(*this, std::string(name));
}

void WaitingRoom::leave(const std::string& name) {
  const std::lock_guard lock(mutex_);
  total_.fetch_sub(1, std::memory_order_relaxed);
  const auto here = by_name_.find(name);
  if (--here->second == 0) by_name_.erase(here);
}

}  // namespace holdfast::server
