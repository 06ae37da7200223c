// SPDX-License-Identifier: Apache-2.0
#include "model/step.hpp"

#include "model/invariants.hpp"
#include "model/party.hpp"
#include "model/queue.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <type_traits>
#include <utility>

namespace holdfast::model {

namespace {

constexpr std::size_t max_holders_shown = 4;

// Without its party, which a try that finds the lock busy does not need.
HolderView holder_view(const Hold& hold, StoreTime now) {
  return {.fence = hold.fence,
          .permits = hold.permits,
          .claimed = hold.claimed,
          .remaining = hold.expires - now,
          .held_for = now - hold.since,
          .metadata = hold.metadata};
}

// When the lease in the way ends by itself: the last one for a request that needs all permits,
// the first one for any other.
Micros until_room(const LockState& state, std::uint32_t permits, StoreTime now) {
  if (state.holds.empty()) return Micros::zero();
  const auto sooner = [](const Hold& a, const Hold& b) { return a.expires < b.expires; };
  const auto [first, last] = std::minmax_element(state.holds.begin(), state.holds.end(), sooner);
  return (permits == all_permits ? last : first)->expires - now;
}

Busy busy(const LockState& state, const Acquire& wanted, StoreTime now) {
  Busy outcome{.retry_after = until_room(state, wanted.permits, now),
               .holder_count = static_cast<std::uint32_t>(state.holds.size()),
               .holders = {}};
  for (const Hold& hold : state.holds) {
    if (outcome.holders.size() == max_holders_shown) break;
    outcome.holders.push_back(holder_view(hold, now));
  }
  return outcome;
}

LockOutcome not_yours(const LockState& state) {
  if (state.holds.empty()) return NotHeld{};
  return NotOwner{};
}

Refused refused(Errc code, const char* message) { return Refused{Error{code, message}}; }

// Two different wants under one request could not be told apart by their answers.
bool is_request_in_use(LockState& state, const Acquire& wanted) {
  const bool is_its_own = wanted.converts == RequestId::any || wanted.converts == wanted.request;
  if (!is_its_own && find_hold(state, wanted.owner, wanted.request)) return true;
  const auto waiting = find_waiter(state, wanted);
  return waiting != state.queue.end() && waiting->second.converts != wanted.converts;
}

// A reader that meets a waiting writer stands back, or writers would starve. In a fifo lock the
// queue sees to that.
bool must_stand_back(const LockState& state, std::uint32_t permits) {
  if (permits == all_permits) return false;
  return std::any_of(state.queue.begin(), state.queue.end(),
                     [](const auto& entry) { return entry.second.permits == all_permits; });
}

bool may_enter(const LockState& state, const Acquire& wanted) {
  if (!fits(state, wanted.owner, wanted.permits, RequestId::any)) return false;
  if (state.queue.empty()) return true;
  if (state.spec.kind == Kind::reentrant && !state.holds.empty()) return true;
  return state.spec.order == Order::barging && !must_stand_back(state, wanted.permits);
}

Waiter waiter_from(const Acquire& wanted, StoreTime now) {
  return {.owner = wanted.owner,
          .request = wanted.request,
          .process = wanted.process,
          .permits = wanted.permits,
          .converts = wanted.converts,
          .since = now,
          .ttl = wanted.ttl,
          .claim = wanted.claim,
          .metadata = wanted.metadata};
}

std::uint64_t place_for(const LockState& state, const Acquire& wanted, World& world) {
  if (wanted.converts != RequestId::any) return upgrader_place;
  const bool returns_to_its_place = wanted.place != upgrader_place &&
                                    world.minted_before(wanted.place) &&
                                    !state.queue.contains(wanted.place);
  return returns_to_its_place ? wanted.place : world.mint();
}

// In a crowd nobody needs to know exactly how many stand before it.
std::uint32_t count_ahead(const LockState& state, std::map<std::uint64_t, Waiter>::iterator mine) {
  std::uint32_t ahead = 0;
  for (; mine != state.queue.begin() && ahead < limits::max_counted_ahead; --mine) ++ahead;
  return ahead;
}

LockOutcome queued(LockState& state, const Acquire& wanted, StoreTime now) {
  const auto mine = find_waiter(state, wanted);
  assert(mine != state.queue.end());
  return Queued{.place = mine->first,
                .ahead = count_ahead(state, mine),
                .retry_after = until_room(state, wanted.permits, now)};
}

LockOutcome enter(LockState& state, const Acquire& wanted, World& world) {
  if (state.holds.size() >= limits::max_holders) {
    return refused(Errc::limit_reached, "max_holders: 16384 leases on one lock are the limit");
  }
  if (!state.queue.empty()) {
    const auto mine = find_waiter(state, wanted);
    if (mine != state.queue.end()) state.queue.erase(mine);
  }
  return granted(grant(state, wanted, wanted.ttl, world), world.now());
}

LockOutcome join_queue(LockState& state, const Acquire& wanted, World& world) {
  if (find_waiter(state, wanted) == state.queue.end()) {
    if (state.queue.size() >= limits::max_waiters) {
      return refused(Errc::limit_reached, "max_waiters: 16384 waiters on one lock are the limit");
    }
    state.queue.emplace(place_for(state, wanted, world), waiter_from(wanted, world.now()));
  }
  // Not at every check: a store should not have to write when nothing else changes.
  const StoreTime full = world.now() + limits::queue_ttl;
  if (state.queue_expires < full - limits::queue_ttl_grain) state.queue_expires = full;
  hand_over(state, world, &wanted);
  const RequestId held_as = wanted.converts == RequestId::any ? wanted.request : wanted.converts;
  if (find_waiter(state, wanted) == state.queue.end()) {
    return granted(*find_hold(state, wanted.owner, held_as), world.now());
  }
  // Those who stood before it may have gone, or have made it the owner that re-enters.
  if (wanted.converts == RequestId::any && may_enter(state, wanted)) {
    return enter(state, wanted, world);
  }
  return queued(state, wanted, world.now());
}

// A lease is converted by one request at a time, so that another one that waits is left over.
void drop_upgrader(LockState& state, const Acquire& wanted) {
  const auto upgrader = state.queue.find(upgrader_place);
  if (upgrader == state.queue.end() || upgrader->second.request == wanted.request) return;
  const Waiter& waiter = upgrader->second;
  if (waiter.owner == wanted.owner && waiter.converts == wanted.converts)
    state.queue.erase(upgrader);
}

LockOutcome upgrade_or_wait(LockState& state, const Acquire& wanted, World& world) {
  drop_upgrader(state, wanted);
  const auto upgrader = state.queue.find(upgrader_place);
  const bool another_waits =
      upgrader != state.queue.end() &&
      (upgrader->second.request != wanted.request || upgrader->second.owner != wanted.owner);
  // Two upgraders would each wait for the other's shared lease to end.
  if (another_waits) return busy(state, wanted, world.now());
  const bool alone = fits(state, wanted.owner, wanted.permits, wanted.converts);
  if (!alone && !wanted.wait) return busy(state, wanted, world.now());
  return join_queue(state, wanted, world);
}

// The hold keeps its request, so its renewals go on undisturbed, and a repeated conversion is
// known by its result.
LockOutcome convert(LockState& state, const Acquire& wanted, World& world) {
  Hold* hold = find_hold(state, wanted.owner, wanted.converts);
  if (!hold) return not_yours(state);
  if (wanted.permits != all_permits) drop_upgrader(state, wanted);
  if (hold->permits == wanted.permits) {
    hold->claimed = false;
    // A caller that knows of this upgrade has asked to end it, and that may still be on its way:
    // the new fence makes it a late copy. A caller that knows a newer fence than the store had it
    // from a store that has lost data since, and must not be told an older one.
    const bool anew = wanted.permits == all_permits && wanted.known >= hold->fence;
    if (anew) {
      hold->fence = world.mint();
      extend(*hold, wanted.ttl, world.now());
    }
    return granted(*hold, world.now());
  }
  if (wanted.known != 0 && wanted.known < hold->fence) {
    return refused(Errc::busy, "the lease was converted meanwhile");
  }
  hold->claimed = false;
  if (wanted.permits == all_permits) return upgrade_or_wait(state, wanted, world);
  hold->permits = wanted.permits;
  return granted(*hold, world.now());
}

// A repeated request is a retry, not a second hold: it is told what is left of the first. A claim
// is confirmed by it and becomes a full lease.
LockOutcome repeated(Hold& hold, const Acquire& wanted, StoreTime now) {
  if (hold.claimed) extend(hold, wanted.ttl, now);
  hold.claimed = false;
  return granted(hold, now);
}

// Whoever was told to come has come, even if somebody else was quicker.
void take_offer(LockState& state, const Acquire& wanted) {
  if (!state.offer.stands()) return;
  const auto mine = find_waiter(state, wanted);
  if (mine != state.queue.end() && mine->first == state.offer.place) state.offer = {};
}

LockOutcome apply(LockState& state, const LockSpec& spec, const Acquire& wanted, World& world) {
  take_offer(state, wanted);
  const bool converts = wanted.converts != RequestId::any;
  if (state.idle()) {
    state.spec = spec;
    state.queue_expires = {};
    if (spec.order == Order::automatic) state.spec.order = Order::fifo;
    // Nobody to look for and nobody to pass.
    if (!converts) return enter(state, wanted, world);
  } else if (!agree(state.spec, spec)) {
    return refused(Errc::spec_mismatch,
                   "the name is in use as another kind of lock, with another capacity or order");
  }
  Hold* mine = find_hold(state, wanted.owner, wanted.request);
  if (mine && !converts) return repeated(*mine, wanted, world.now());
  if (is_request_in_use(state, wanted)) {
    return refused(Errc::bad_input, "request: this one already holds or waits for something else");
  }
  if (converts) return convert(state, wanted, world);
  if (may_enter(state, wanted)) return enter(state, wanted, world);
  if (wanted.wait) return join_queue(state, wanted, world);
  // A try that meets a free lock with a queue hands over before it answers, or the lock would
  // stay idle until the next check of a waiter.
  hand_over(state, world, &wanted);
  // The head may have been the caller itself, which waited before and only tries now.
  if (Hold* served = find_hold(state, wanted.owner, wanted.request)) {
    return granted(*served, world.now());
  }
  if (may_enter(state, wanted)) return enter(state, wanted, world);
  return busy(state, wanted, world.now());
}

// Of several leases of one owner, the one with the largest fence speaks for all; re-entries share
// theirs, and there the longest does, of those the oldest.
void keep_newest(std::optional<Granted>& newest, const Granted& other) {
  const auto rank = [](const Granted& each) {
    return std::tuple(each.fence, each.remaining, each.held_for);
  };
  if (!newest || rank(other) > rank(*newest)) newest = other;
}

// Re-entries share their fence, so that all of them get it.
void adopt_fence(LockState& state, const Renew& wanted, World& world) {
  if (wanted.fence == 0) return;
  const bool was_free = world.raise_fences_to(wanted.fence);
  const Hold* meant = find_hold(state, wanted.owner, wanted.request);
  if (!meant) return;
  Fence fence = wanted.fence;
  if (wanted.reserve && !was_free) {
    // It has this one, or a late copy comes after a larger one was taken.
    if (meant->fence >= fence) return;
    fence = world.mint();
  }
  for (Hold& hold : state.holds) {
    const bool shares = state.spec.kind == Kind::reentrant;
    if (shares || &hold == meant) hold.fence = fence;
  }
}

LockOutcome apply(LockState& state, const LockSpec&, const Renew& wanted, World& world) {
  adopt_fence(state, wanted, world);
  std::optional<Granted> newest;
  for (Hold& hold : state.holds) {
    const bool meant = wanted.request == RequestId::any || hold.request == wanted.request;
    if (!meant || hold.owner != wanted.owner) continue;
    extend(hold, wanted.ttl, world.now());
    // What its holder may believe in: a renewal for less shortens nothing.
    hold.ttl = std::max(wanted.ttl, hold.expires - world.now());
    hold.claimed = false;
    keep_newest(newest, granted(hold, world.now()));
  }
  if (newest) return *newest;
  return not_yours(state);
}

// The leases of the owner, however many. Where only newer ones than `up_to` are left, the lease
// that was meant is over.
LockOutcome release_of_owner(LockState& state, const Release& wanted) {
  const auto is_newer = [&](const Hold& hold) {
    return hold.owner == wanted.owner && hold.fence > wanted.up_to;
  };
  const auto ends = [&](const Hold& hold) {
    return hold.owner == wanted.owner && hold.fence <= wanted.up_to &&
           (hold.claimed || !wanted.only_unconfirmed);
  };
  const auto kept = std::remove_if(state.holds.begin(), state.holds.end(), ends);
  const bool held = kept != state.holds.end();
  state.holds.erase(kept, state.holds.end());
  if (held) return Released{};
  if (std::any_of(state.holds.begin(), state.holds.end(), is_newer)) return NotHeld{};
  return not_yours(state);
}

LockOutcome apply(LockState& state, const LockSpec&, const Release& wanted, World&) {
  if (wanted.request == RequestId::any) return release_of_owner(state, wanted);
  const auto meant = [&](const auto& entry) {
    return entry.request == wanted.request && entry.owner == wanted.owner;
  };
  const auto ends = [&](const Hold& hold) {
    return meant(hold) && (hold.claimed || !wanted.only_unconfirmed);
  };
  const auto kept = std::remove_if(state.holds.begin(), state.holds.end(), ends);
  const bool held = kept != state.holds.end();
  state.holds.erase(kept, state.holds.end());
  const auto leaves = [&](const auto& entry) { return meant(entry.second); };
  const bool waited = std::erase_if(state.queue, leaves) > 0;
  if (held || waited) return Released{.lease = held};
  return not_yours(state);
}

LockOutcome apply(LockState& state, const LockSpec&, const ForceRelease& wanted, World& world) {
  const auto ousted = [&](const Hold& hold) {
    const bool meant =
        wanted.source.empty() || (hold.metadata && hold.metadata->source == wanted.source);
    return meant && hold.fence <= wanted.up_to;
  };
  const auto kept = std::remove_if(state.holds.begin(), state.holds.end(), ousted);
  const auto count = static_cast<std::uint32_t>(std::distance(kept, state.holds.end()));
  state.holds.erase(kept, state.holds.end());
  if (count == 0) return not_yours(state);
  // Minted although nobody gets it: whatever the ousted holders still do carries an older fence.
  return Forced{.fence = world.mint(), .count = count};
}

// Looking changes nothing, not even what has expired.
Seen inspect(const LockState& state, const Inspect& wanted, StoreTime now) {
  Seen seen{.lock = view({}, state, now), .mine = std::nullopt};
  for (const Hold& hold : state.holds) {
    const bool counts = hold.owner == wanted.owner && hold.expires > now;
    if (counts) keep_newest(seen.mine, granted(hold, now));
    if (wanted.with_owners && hold.expires > now) seen.owners.push_back(hold.owner);
  }
  return seen;
}

}  // namespace

LockOutcome step(LockState& state, const LockCommand& command, World& world) {
  if (const auto* look = std::get_if<Inspect>(&command.verb)) {
    return inspect(state, *look, world.now());
  }
  expire(state, world.now());
  LockOutcome outcome = std::visit(
      [&]<typename Verb>(const Verb& verb) -> LockOutcome {
        if constexpr (std::is_same_v<Verb, Inspect>)
          std::unreachable();
        else
          return apply(state, command.spec, verb, world);
      },
      command.verb);
  // Whatever the command was: a lock that is free for the head of its queue is handed over.
  hand_over(state, world, nullptr);
  if (state.idle()) state.queue_expires = {};
  if (state.offer.stands() && !state.queue.contains(state.offer.place)) state.offer = {};
  assert(!violated_invariant(state, world.now()));
  return outcome;
}

LockView view(std::string_view name, const LockState& state, StoreTime now) {
  LockView seen{.name = std::string(name),
                .kind = state.spec.kind,
                .capacity = state.spec.capacity,
                .order = state.spec.order,
                .holders = {},
                .waiters = {}};
  for (const Hold& hold : state.holds) {
    if (hold.expires <= now) continue;
    seen.holders.push_back(holder_view(hold, now));
    seen.holders.back().party = party_of(hold.owner.view());
  }
  if (state.queue_expires <= now) return seen;
  for (const auto& [place, waiter] : state.queue) {
    seen.waiters.push_back({.party = party_of(waiter.owner.view()),
                            .permits = waiter.permits,
                            .waiting_for = now - waiter.since,
                            .metadata = waiter.metadata});
  }
  return seen;
}

bool forgettable(const LockState& state, StoreTime now) {
  const bool waited_for = !state.queue.empty() && state.queue_expires > now;
  return !waited_for && std::all_of(state.holds.begin(), state.holds.end(),
                                    [now](const Hold& hold) { return hold.expires <= now; });
}

}  // namespace holdfast::model
