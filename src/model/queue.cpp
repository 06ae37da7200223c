// SPDX-License-Identifier: Apache-2.0
#include "model/queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::model {

namespace {

bool is_upgrade(const Waiter& waiter) { return waiter.converts != RequestId::any; }

bool is_callers(const Waiter& waiter, const Acquire* caller) {
  return caller != nullptr && waiter.request == caller->request &&
         waiter.converts == caller->converts && waiter.owner == caller->owner;
}

void drop_waiters_of(LockState& state, ProcessId process, const Acquire* caller) {
  std::erase_if(state.queue, [&](const auto& entry) {
    return entry.second.process == process && !is_callers(entry.second, caller);
  });
}

void drop_upgrade_without_its_hold(LockState& state) {
  const auto head = state.queue.find(upgrader_place);
  if (head == state.queue.end()) return;
  if (!find_hold(state, head->second.owner, head->second.converts)) state.queue.erase(head);
}

Message message_to(const Waiter& waiter) {
  return Message{waiter.process, waiter.owner, waiter.request, std::nullopt};
}

// Turns a shared lease into an exclusive one. It keeps its own expiry: its holder is alive and
// renews it, so there is nothing to claim.
Hold& upgrade(LockState& state, const Waiter& waiter, Micros lease, World& world) {
  Hold& hold = *find_hold(state, waiter.owner, waiter.converts);
  hold.fence = world.mint();
  hold.permits = waiter.permits;
  extend(hold, lease, world.now());
  return hold;
}

// Not if it was told before and did not, and not if it cannot be told.
bool may_come(const Offer& offer, std::uint64_t place, const Waiter& waiter, World& world) {
  const bool was_told = offer.stands() && offer.place == place;
  return (!was_told || world.now() < offer.until) && world.reachable(waiter.process);
}

void serve(LockState& state, World& world, std::uint64_t place, bool is_caller) {
  auto entry = state.queue.extract(place);
  Waiter& waiter = entry.mapped();
  const bool upgrades = is_upgrade(waiter);
  const Micros lease = is_caller ? waiter.ttl : std::min(waiter.ttl, waiter.claim);
  Message message = message_to(waiter);
  Hold& hold = upgrades ? upgrade(state, waiter, lease, world)
                        : grant(state, std::move(waiter), lease, world);
  if (is_caller) return;
  hold.claimed = !upgrades;
  message.grant = Grant{hold.fence, world.now(), hold.expires - world.now()};
  world.messages.push_back(std::move(message));
}

}  // namespace

void expire(LockState& state, StoreTime now) {
  if (!state.queue.empty() && state.queue_expires <= now) {
    state.queue.clear();
    state.offer = {};
  }
  const auto ended = [now](const Hold& hold) { return hold.expires <= now; };
  if (std::none_of(state.holds.begin(), state.holds.end(), ended)) return;
  for (const Hold& hold : state.holds) {
    if (ended(hold) && hold.claimed) drop_waiters_of(state, hold.process, nullptr);
  }
  state.holds.erase(std::remove_if(state.holds.begin(), state.holds.end(), ended),
                    state.holds.end());
  drop_upgrade_without_its_hold(state);
}

bool fits(const LockState& state, const OwnerId& owner, std::uint32_t permits, RequestId converts) {
  if (state.holds.empty()) return true;
  if (state.spec.kind == Kind::reentrant && state.holds.front().owner == owner) return true;
  std::uint64_t used = 0;
  for (const Hold& hold : state.holds) {
    if (converts != RequestId::any && hold.request == converts && hold.owner == owner) continue;
    if (hold.permits == all_permits) return false;
    used += hold.permits;
  }
  if (permits == all_permits) return used == 0;
  return used + permits <= state.spec.capacity;
}

void hand_over(LockState& state, World& world, const Acquire* caller) {
  if (state.queue.empty()) return;
  drop_upgrade_without_its_hold(state);
  while (!state.queue.empty()) {
    const auto& [place, waiter] = *state.queue.begin();
    if (!fits(state, waiter.owner, waiter.permits, waiter.converts)) return;
    if (state.holds.size() >= limits::max_holders && !is_upgrade(waiter)) return;
    const bool is_caller = is_callers(waiter, caller);
    if (!is_caller && !may_come(state.offer, place, waiter, world)) {
      drop_waiters_of(state, ProcessId{waiter.process}, caller);
      continue;
    }
    if (state.spec.order == Order::barging && !is_caller) {
      const bool told = !world.messages.empty() && world.messages.back().request == waiter.request;
      if (!told) world.messages.push_back(message_to(waiter));
      if (state.offer.place != place || !state.offer.stands()) {
        state.offer = {place, world.now() + waiter.claim};
      }
      return;
    }
    serve(state, world, std::uint64_t{place}, is_caller);
  }
}

Hold* find_hold(LockState& state, const OwnerId& owner, RequestId request) {
  for (Hold& hold : state.holds) {
    if (hold.request == request && hold.owner == owner) return &hold;
  }
  return nullptr;
}

std::map<std::uint64_t, Waiter>::iterator find_waiter(LockState& state, const OwnerId& owner,
                                                      RequestId request) {
  // From the end: whoever came last asks next.
  const auto found = std::find_if(state.queue.rbegin(), state.queue.rend(), [&](const auto& entry) {
    return entry.second.request == request && entry.second.owner == owner;
  });
  return found == state.queue.rend() ? state.queue.end() : std::prev(found.base());
}

std::map<std::uint64_t, Waiter>::iterator find_waiter(LockState& state, const Acquire& wanted) {
  const auto at = state.queue.find(wanted.place);
  const bool is_there = at != state.queue.end() && at->second.request == wanted.request &&
                        at->second.owner == wanted.owner;
  return is_there ? at : find_waiter(state, wanted.owner, wanted.request);
}

void extend(Hold& hold, Micros ttl, StoreTime now) {
  hold.expires = std::max(hold.expires, now + ttl);
}

Granted granted(const Hold& hold, StoreTime now) {
  return {hold.fence, hold.expires - now, now - hold.since};
}

}  // namespace holdfast::model
