// SPDX-License-Identifier: Apache-2.0
//
// Random listings, against the definition written down as plainly and as slowly as possible.
#include "server/deadlock/deadlock.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace holdfast::server {
namespace {

using Parties = std::set<std::uint64_t>;

struct Place {
  std::size_t lock;
  std::size_t at;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class Oracle {
 public:
  explicit Oracle(const std::vector<LockView>& locks) : locks_(locks) {
    for (const auto& lock : locks) {
      for (const auto& holder : lock.holders) parties_.insert(holder.party);
      for (const auto& waiter : lock.waiters) parties_.insert(waiter.party);
    }
    parties_.erase(0);
    while (remove_one()) {
    }
  }

  // Who takes part: whoever's wait can be reached from itself.
  std::set<std::pair<std::uint64_t, std::string>> members() const {
    std::set<std::pair<std::uint64_t, std::string>> found;
    for (const auto& from : stuck_waits()) {
      const auto reached = reachable(from);
      if (!reached.contains(from) || party(from) == 0) continue;
      Parties ring;
      for (const auto& other : reached) {
        if (reachable(other).contains(from)) ring.insert(party(other));
      }
      ring.erase(0);
      if (ring.size() > 1) found.emplace(party(from), locks_[from.lock].name);
    }
    return found;
  }

 private:
  std::uint64_t party(const Place& wait) const { return locks_[wait.lock].waiters[wait.at].party; }

  bool is_stuck(std::uint64_t party) const { return party != 0 && parties_.contains(party); }

  bool holders_allow(const Place& wait) const {
    const auto& lock = locks_[wait.lock];
    const auto& waiter = lock.waiters[wait.at];
    std::uint64_t taken = 0;
    for (const auto& holder : lock.holders) {
      if (!is_stuck(holder.party) || holder.party == waiter.party) continue;
      const bool both_read = lock.kind == Kind::read_write && waiter.permits == 1;
      if (both_read && holder.permits == 1) continue;
      taken += lock.kind == Kind::semaphore ? holder.permits : all_permits;
    }
    return lock.kind == Kind::semaphore ? taken + waiter.permits <= lock.capacity : taken == 0;
  }

  std::vector<Place> before(const Place& wait) const {
    const auto& lock = locks_[wait.lock];
    std::vector<Place> ahead;
    for (std::size_t i = 0; i < wait.at; ++i) {
      const bool reads = lock.kind == Kind::read_write && lock.waiters[wait.at].permits == 1;
      const bool in_line = lock.kind == Kind::semaphore && lock.order != Order::barging;
      if (in_line || (reads && lock.waiters[i].permits == all_permits)) {
        ahead.push_back({wait.lock, i});
      }
    }
    return ahead;
  }

  bool is_served(const Place& wait) const {
    if (!holders_allow(wait)) return false;
    for (const auto& ahead : before(wait)) {
      if (!is_served(ahead)) return false;
    }
    return true;
  }

  bool remove_one() {
    for (const auto party : parties_) {
      bool goes_on = true;
      for (const auto& wait : all_waits()) {
        if (this->party(wait) == party && !is_served(wait)) goes_on = false;
      }
      if (!goes_on) continue;
      parties_.erase(party);
      return true;
    }
    return false;
  }

  std::vector<Place> all_waits() const {
    std::vector<Place> all;
    for (std::size_t l = 0; l < locks_.size(); ++l) {
      for (std::size_t w = 0; w < locks_[l].waiters.size(); ++w) all.push_back({l, w});
    }
    return all;
  }

  std::vector<Place> stuck_waits() const {
    auto all = all_waits();
    std::erase_if(all, [this](const Place& wait) { return is_served(wait); });
    return all;
  }

  // The waits that must be served before this one is: of those in its way, and ahead of it.
  std::set<Place> next(const Place& wait) const {
    std::set<Place> found;
    for (const auto& ahead : before(wait)) {
      if (!is_served(ahead)) found.insert(ahead);
    }
    if (holders_allow(wait)) return found;
    const auto& lock = locks_[wait.lock];
    const bool reads = lock.kind == Kind::read_write && lock.waiters[wait.at].permits == 1;
    for (const auto& holder : lock.holders) {
      if (!is_stuck(holder.party) || (reads && holder.permits == 1)) continue;
      for (const auto& other : stuck_waits()) {
        if (party(other) == holder.party) found.insert(other);
      }
    }
    return found;
  }

  std::set<Place> reachable(const Place& from) const {
    std::set<Place> seen;
    std::vector<Place> open{from};
    while (!open.empty()) {
      const auto at = open.back();
      open.pop_back();
      for (const auto& to : next(at)) {
        if (seen.insert(to).second) open.push_back(to);
      }
    }
    return seen;
  }

  const std::vector<LockView>& locks_;
  Parties parties_;  // those who do not go on
};

std::vector<LockView> random_locks(std::mt19937& random) {
  const auto some = [&random](std::uint32_t below) { return random() % below; };
  std::vector<LockView> locks;
  const auto parties = 2 + some(5);
  for (auto left = 2 + some(4); left > 0; --left) {
    LockView lock{.name = fmt::format("l{}", left), .capacity = all_permits};
    const auto exclusive = [&] { return some(2) == 0; };
    switch (some(3)) {
      case 0: lock.holders.push_back({.party = some(parties + 1), .metadata = nullptr}); break;
      case 1:
        lock.kind = Kind::read_write;
        for (auto n = 1 + some(2); n > 0; --n) {
          lock.holders.push_back({.party = some(parties + 1), .permits = 1, .metadata = nullptr});
        }
        break;
      default:
        lock.kind = Kind::semaphore;
        lock.capacity = 3;
        lock.order = exclusive() ? Order::fifo : Order::barging;
        for (auto n = 1 + some(3); n > 0; --n) {
          lock.holders.push_back({.party = some(parties + 1), .permits = 1, .metadata = nullptr});
        }
    }
    for (auto n = some(4); n > 0; --n) {
      std::uint32_t permits = all_permits;
      if (lock.kind == Kind::semaphore) permits = 1 + some(3);
      if (lock.kind == Kind::read_write && exclusive()) permits = 1;
      lock.waiters.push_back({.party = some(parties + 1), .permits = permits, .metadata = nullptr});
    }
    locks.push_back(std::move(lock));
  }
  return locks;
}

TEST(Deadlock, random_listings_show_what_the_definition_says) {
  std::size_t with_deadlocks = 0;
  for (unsigned seed = 1; seed <= 5'000; ++seed) {
    std::mt19937 random(seed);
    const auto locks = random_locks(random);
    std::set<std::pair<std::uint64_t, std::string>> found;
    for (const auto& deadlock : find_deadlocks(locks, {})) {
      for (const auto& member : deadlock.members) found.emplace(member.party, member.waits_for);
    }
    ASSERT_EQ(found, Oracle(locks).members()) << "seed " << seed;
    with_deadlocks += found.empty() ? 0 : 1;
  }
  EXPECT_GT(with_deadlocks, 500U);
  EXPECT_LT(with_deadlocks, 4'500U);
}

}  // namespace
}  // namespace holdfast::server
