// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/member.hpp"

#include <fmt/format.h>

namespace holdfast::backends::quorum {

namespace {

std::string seconds(LocalTime::duration time) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(time).count());
}

}  // namespace

bool Member::look_again() {
  auto found = store->standing();
  const std::lock_guard lock(mutex_);
  standing_ = std::move(found);
  return !standing_.server.empty();
}

bool Member::is_known() const {
  const std::lock_guard lock(mutex_);
  return !standing_.server.empty();
}

store::Standing Member::standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

void Member::is_twin_of(const std::string& other) {
  const std::lock_guard lock(mutex_);
  twin_ = other;
}

std::optional<std::string> Member::why_not_counted(LocalTime now, Micros ttl, Micros grace) const {
  const std::lock_guard lock(mutex_);
  if (!twin_.empty()) return fmt::format("is the same server as {}", twin_);
  if (standing_.replaced_at && now < *standing_.replaced_at + ttl) {
    return fmt::format("was restarted; counts again in {}",
                       seconds(*standing_.replaced_at + ttl - now));
  }
  const bool may_have_forgotten = grace > Micros::zero() && !standing_.keeps_memory;
  if (may_have_forgotten && standing_.up_since && now < *standing_.up_since + grace) {
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
