// SPDX-License-Identifier: Apache-2.0
//
// The moves that every command is made of: what time ends, who fits, and who is next.
#pragma once

#include "model/step.hpp"

#include <utility>

namespace holdfast::model {

// Removes what time has ended. A claim that lapsed says that its process does not listen: its
// other waiters go too, and return to their places by their next check.
void expire(LockState& state, StoreTime now);

// Whether the lock has room for this request, whoever waits. `converts` is the hold it replaces.
bool fits(const LockState& state, const OwnerId& owner, std::uint32_t permits, RequestId converts);

// Serves the head of the queue as far as the lock has room, passing over processes that cannot be
// reached. `caller` is the waiter whose own command this is: it needs no message and no claim.
// In a barging lock nobody is granted anything: the head is told to try, and is passed over with
// its process if it did not come in time when it was told before.
void hand_over(LockState& state, World& world, const Acquire* caller);

Hold* find_hold(LockState& state, const OwnerId& owner, RequestId request);
std::map<std::uint64_t, Waiter>::iterator find_waiter(LockState& state, const OwnerId& owner,
                                                      RequestId request);
// The same, without looking at all the others where the waiter says its place.
std::map<std::uint64_t, Waiter>::iterator find_waiter(LockState& state, const Acquire& wanted);

// Adds a lease to the state and returns it; `to` is a Waiter or an Acquire. A re-entry shares the
// fence of its owner's first lease.
template <typename Requester>
Hold& grant(LockState& state, Requester&& to, Micros lease, World& world) {
  const bool reenters = state.spec.kind == Kind::reentrant && !state.holds.empty();
  const Fence fence = reenters ? state.holds.front().fence : world.mint();
  return state.holds.emplace_back(Hold{.owner = std::forward<Requester>(to).owner,
                                       .request = to.request,
                                       .process = to.process,
                                       .permits = to.permits,
                                       .claimed = false,
                                       .fence = fence,
                                       .expires = world.now() + lease,
                                       .since = world.now(),
                                       .ttl = to.ttl,
                                       .metadata = std::forward<Requester>(to).metadata});
}

// A lease never becomes shorter.
void extend(Hold& hold, Micros ttl, StoreTime now);

Granted granted(const Hold& hold, StoreTime now);

}  // namespace holdfast::model
