// SPDX-License-Identifier: Apache-2.0
#include "model/invariants.hpp"

#include <holdfast/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::model {
namespace {

using Violation = std::optional<std::string>;

// An attempt to hold the lock; no two of these are the same.
using Attempt = std::pair<std::string_view, RequestId>;

Attempt attempt_of(const auto& entry) { return {entry.owner.view(), entry.request}; }

std::uint64_t permits_in_use(const LockState& state) {
  std::uint64_t sum = 0;
  for (const auto& hold : state.holds) sum += hold.permits;
  return sum;
}

Violation check_lease(const Hold& hold, StoreTime now) {
  if (hold.expires <= now) return "a hold has expired but is still there";
  if (hold.expires > now + max_ttl) return "a hold outlasts the longest ttl";
  if (hold.ttl < min_ttl || hold.ttl > max_ttl) return "a hold's ttl is out of range";
  // Counted from the grant, since a clock that is set back makes every lease longer.
  if (hold.claimed && hold.expires > hold.since + hold.ttl)
    return "a claim outlasts the ttl it stands for";
  if (hold.request == RequestId::any) return "a hold has no request";
  if (hold.permits == 0) return "a hold has no permits";
  if (hold.fence == 0) return "a hold has no fence";
  return std::nullopt;
}

Violation check_leases(const LockState& state, StoreTime now) {
  for (const auto& hold : state.holds) {
    if (auto violation = check_lease(hold, now)) return violation;
  }
  return std::nullopt;
}

Violation check_reentry(const LockState& state) {
  for (const auto& hold : state.holds) {
    const auto& first = state.holds.front();
    if (hold.owner != first.owner) return "two owners hold a reentrant mutex";
    if (hold.fence != first.fence) return "re-entry changed the fence";
  }
  return std::nullopt;
}

Violation check_capacity(const LockState& state) {
  if (state.spec.kind == Kind::reentrant) return check_reentry(state);
  // An exclusive hold takes all permits, so this also says that it is alone.
  const auto used = permits_in_use(state);
  if (used <= state.spec.capacity) return std::nullopt;
  return fmt::format("{} permits are held of {}", used, state.spec.capacity);
}

const Hold* find_base(const LockState& state, const Waiter& upgrader) {
  const auto base = std::ranges::find_if(state.holds, [&](const Hold& hold) {
    return hold.owner == upgrader.owner && hold.request == upgrader.converts;
  });
  return base == state.holds.end() ? nullptr : &*base;
}

Violation check_upgrader(const LockState& state) {
  for (const auto& [place, waiter] : state.queue) {
    const bool upgrades = waiter.converts != RequestId::any;
    if (upgrades && place != upgrader_place) return "an upgrader does not wait in the first place";
    if (!upgrades && place == upgrader_place) return "the upgrader's place is taken by another";
    if (upgrades && find_base(state, waiter) == nullptr) return "an upgrader lost its shared hold";
  }
  return std::nullopt;
}

// An upgrader may wait under the request of the hold it converts.
bool waits_for_its_own_hold(const Waiter& waiter) { return waiter.converts == waiter.request; }

Violation check_attempts(const LockState& state) {
  boost::container::small_vector<Attempt, 32> attempts;
  for (const auto& hold : state.holds) attempts.push_back(attempt_of(hold));
  for (const auto& [place, waiter] : state.queue) {
    if (waiter.request == RequestId::any) return "a waiter has no request";
    if (!waits_for_its_own_hold(waiter)) attempts.push_back(attempt_of(waiter));
  }
  std::ranges::sort(attempts);
  if (std::ranges::adjacent_find(attempts) == attempts.end()) return std::nullopt;
  return "one request of an owner holds or waits twice";
}

// Written apart from the step's own rule, so that a mistake there does not excuse itself here.
bool is_free_for(const LockState& state, const Waiter& head) {
  std::uint64_t used = permits_in_use(state);
  if (head.converts != RequestId::any) {
    if (const auto* base = find_base(state, head)) used -= base->permits;
  } else if (state.holds.size() >= limits::max_holders) {
    return false;
  } else if (state.spec.kind == Kind::reentrant) {
    return state.holds.empty() || state.holds.front().owner == head.owner;
  }
  return used + head.permits <= state.spec.capacity;
}

Violation check_queue(const LockState& state, StoreTime now) {
  if (state.offer.stands() && state.spec.order != Order::barging) {
    return "somebody was told to come to a lock with a queue in order";
  }
  if (state.offer.stands() && !state.queue.contains(state.offer.place)) {
    return "somebody was told to come who does not wait";
  }
  if (state.queue.empty()) return std::nullopt;
  if (state.queue_expires <= now) return "the queue has expired but is still there";
  // Who barges may leave the lock free for a moment; a queue in order never waits for nothing.
  if (state.spec.order == Order::barging) return std::nullopt;
  if (!is_free_for(state, state.queue.begin()->second)) return std::nullopt;
  return "the lock is free for the head of the queue but was not handed over";
}

Violation check_limits(const LockState& state) {
  if (state.holds.size() > limits::max_holders) return "there are more holds than max_holders";
  if (state.queue.size() > limits::max_waiters) return "there are more waiters than max_waiters";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> violated_invariant(const LockState& state, StoreTime now) {
  if (auto violation = check_limits(state)) return violation;
  if (auto violation = check_leases(state, now)) return violation;
  if (auto violation = check_capacity(state)) return violation;
  if (auto violation = check_upgrader(state)) return violation;
  if (auto violation = check_attempts(state)) return violation;
  return check_queue(state, now);
}

}  // namespace holdfast::model
