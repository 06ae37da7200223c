// SPDX-License-Identifier: Apache-2.0
#include "server/deadlock/detector.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::server {
namespace {

const Deadlock* find(const std::vector<Deadlock>& all, const std::string& id) {
  const auto found = std::ranges::find(all, id, &Deadlock::id);
  return found == all.end() ? nullptr : &*found;
}

// A wait that began anew in between shows that somebody went on.
bool goes_on_from(const Deadlock& before, const Deadlock& now) {
  return std::ranges::equal(before.members, now.members, [](const auto& was, const auto& is) {
    return was.party == is.party && was.waiting_for <= is.waiting_for;
  });
}

}  // namespace

DeadlockChanges DeadlockDetector::look(const std::vector<LockView>& locks, WallTime now) {
  auto seen = find_deadlocks(locks, now);
  std::vector<Deadlock> believed;
  DeadlockChanges changes;
  for (auto& deadlock : seen) {
    const auto* before = find(seen_, deadlock.id);
    if (before == nullptr || !goes_on_from(*before, deadlock)) continue;
    deadlock.since = before->since;
    believed.push_back(deadlock);
    if (find(current_, deadlock.id) == nullptr) changes.appeared.push_back(deadlock);
  }
  for (const auto& deadlock : current_) {
    if (find(believed, deadlock.id) == nullptr) changes.gone.push_back(deadlock);
  }
  seen_ = std::move(seen);
  current_ = std::move(believed);
  return changes;
}

}  // namespace holdfast::server
