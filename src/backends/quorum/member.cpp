// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/member.hpp"

#include <fmt/format.h>

namespace holdfast::backends::quorum {

namespace {

std::string seconds(LocalTime::duration time) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(time).count());
}

// Uptimes are told in whole seconds.
constexpr auto uptime_grain = 1s;

}  // namespace

bool Member::look_again(LocalTime now) {
  auto found = store->standing();
  const std::lock_guard lock(mutex_);
  const bool was_known = !standing_.server.empty();
  const bool is_another = was_known && found.server != standing_.server;
  const bool has_other_locks = !is_another && found.replaced_at != standing_.replaced_at;
  // One that was up while the one before it still answered has not that one's memory.
  const bool was_up_before =
      !found.up_since || (heard_at_ && *found.up_since < *heard_at_ - uptime_grain);
  if (was_known && (has_other_locks || (is_another && was_up_before))) changed_at_ = now;
  standing_ = std::move(found);
  return !standing_.server.empty();
}

void Member::may_have_changed(LocalTime now) {
  if (look_again(now)) return;
  // It does not tell who it is: what it knew may be gone with the connection.
  const std::lock_guard lock(mutex_);
  if (heard_at_) changed_at_ = now;
}

void Member::heard(LocalTime now) {
  const std::lock_guard lock(mutex_);
  heard_at_ = now;
}

bool Member::is_known() const {
  const std::lock_guard lock(mutex_);
  return !standing_.server.empty();
}

store::Standing Member::standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

bool Member::is_forgetful() const {
  const std::lock_guard lock(mutex_);
  return !forgets_nothing && !standing_.server.empty() && !standing_.keeps_memory;
}

void Member::is_twin_of(const std::string& other) {
  const std::lock_guard lock(mutex_);
  twin_ = other;
}

std::optional<std::string> Member::why_not_counted(LocalTime now, Stake stake, Micros ttl,
                                                   Micros grace) const {
  if (stake == Stake::nothing) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!twin_.empty()) return fmt::format("is the same server as {}", twin_);
  if (grace == Micros::zero() || forgets_nothing) return std::nullopt;
  // Also of a member that has it: once it forgot such a lease, it would count again before the end.
  if (!standing_.keeps_memory && ttl > grace) {
    return fmt::format("may forget it; a ttl of {} is longer than grace, {}", seconds(ttl),
                       seconds(grace));
  }
  if (stake == Stake::renewal) return std::nullopt;
  if (changed_at_ && now < *changed_at_ + grace) {
    return fmt::format("was replaced; counts again in {}", seconds(*changed_at_ + grace - now));
  }
  if (!standing_.keeps_memory && standing_.up_since && now < *standing_.up_since + grace) {
    return fmt::format("was started a short time ago; counts in {}",
                       seconds(*standing_.up_since + grace - now));
  }
  return std::nullopt;
}

std::optional<std::string> find_twins(const Members& members, bool allow_same_server) {
  std::optional<std::string> found;
  for (std::size_t later = 1; later < members.size(); ++later) {
    const auto mine = members[later]->standing();
    members[later]->is_twin_of({});
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const auto other = members[earlier]->standing();
      if (mine.server.empty() || mine.server != other.server) continue;
      const bool same_locks = mine.place == other.place;
      if (allow_same_server && !same_locks) continue;
      members[later]->is_twin_of(members[earlier]->address);
      found = fmt::format("{} and {} are the same {}", members[earlier]->address,
                          members[later]->address, same_locks ? "database" : "server");
      break;
    }
  }
  return found;
}

}  // namespace holdfast::backends::quorum
