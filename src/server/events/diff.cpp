// SPDX-License-Identifier: Apache-2.0
#include "server/events/diff.hpp"

#include "server/events/holders.hpp"
#include "server/events/waiters.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace holdfast::server {
namespace {

class Comparison {
 public:
  explicit Comparison(const Between& between) : between_(between) {}

  // A lock of which both looks tell, be it that nobody holds it.
  void compare(const LockView& before, const LockView& after) {
    const auto holders = match_holders(before.holders, after.holders);
    const auto waiters = match_waiters(before, after, holders.came, between_);
    for (const auto* gone : holders.gone) {
      if (is_upgraded(*gone, holders.came)) continue;
      tell(before, ended_by_itself(*gone) ? EventType::expired : EventType::released, *gone);
    }
    for (const auto* left : waiters.left) tell(before, EventType::left, *left);
    for (std::size_t at = 0; at < holders.came.size(); ++at) {
      const auto& came = *holders.came[at];
      tell(after, EventType::acquired, came);
      if (const auto* waiter = waiters.served[at]) events_.back().waited = waited(*waiter, came);
    }
    for (const auto& [was, is] : holders.stayed) {
      if (is_renewed(*was, *is)) tell(after, EventType::renewed, *is);
    }
    for (const auto* came : waiters.came) tell(after, EventType::queued, *came);
  }

  // A lock that the look before may just not have reached: only what is young enough is news.
  void appear(const LockView& lock) {
    for (const auto& holder : lock.holders) {
      if (holder.held_for < between_.elapsed) tell(lock, EventType::acquired, holder);
    }
    for (const auto& waiter : lock.waiters) {
      if (waiter.waiting_for < between_.elapsed) tell(lock, EventType::queued, waiter);
    }
  }

  std::vector<Event> events() && { return std::move(events_); }

 private:
  // A lease that became exclusive has a new fence, but it was held all the time.
  bool is_upgraded(const HolderView& gone, const std::vector<const HolderView*>& came) const {
    if (gone.party == 0 || came.size() != 1) return false;
    const auto& now = *came.front();
    return now.party == gone.party && now.permits == all_permits &&
           now.held_for > between_.elapsed && now.held_for > gone.held_for;
  }

  Micros waited(const WaiterView& before, const HolderView& now) const {
    return before.waiting_for + std::max(between_.elapsed - now.held_for, Micros::zero());
  }

  bool ended_by_itself(const HolderView& gone) const {
    return gone.remaining <= between_.elapsed + between_.slack;
  }

  // Where the store says how long a lease is held, that tells the time between the looks at this
  // very lock; it is known to a few milliseconds then.
  bool is_renewed(const HolderView& was, const HolderView& is) const {
    // The confirmation of a hand-over is no renewal, although the lease grows by it.
    if (was.claimed) return false;
    const bool dated = is.held_for > was.held_for;
    const auto elapsed = dated ? is.held_for - was.held_for : between_.elapsed;
    const auto slack = dated ? Micros(std::chrono::milliseconds(5)) : between_.slack;
    return is.remaining > was.remaining - elapsed + slack;
  }

  Event& tell(const LockView& lock, EventType type) {
    return events_.emplace_back(Event{.type = type,
                                      .name = lock.name,
                                      .at = between_.at,
                                      .source = EventSource::observed,
                                      .kind = lock.kind});
  }

  template <typename View>
  void tell(const LockView& lock, EventType type, const View& view) {
    auto& event = tell(lock, type);
    if constexpr (requires { view.fence; }) {
      event.fence = view.fence;
      const bool has_ended = type == EventType::released || type == EventType::expired;
      // It ended at some time between the looks; nobody knows when.
      if (has_ended) event.held = view.held_for;
      if (!has_ended) event.remaining = view.remaining;
    } else if (type == EventType::left) {
      event.waited = view.waiting_for;
    }
    event.permits = view.permits;
    event.metadata = view.metadata;
    event.party = view.party;
  }

  const Between& between_;
  std::vector<Event> events_;
};

using ByName = std::unordered_map<std::string_view, const LockView*>;

ByName by_name(const Snapshot& snapshot) {
  ByName found;
  found.reserve(snapshot.locks.size());
  for (const auto& lock : snapshot.locks) found.try_emplace(lock.name, &lock);
  return found;
}

LockView vacant(const LockView& lock) {
  return {.name = lock.name, .kind = lock.kind, .holders = {}, .waiters = {}};
}

}  // namespace

std::vector<Event> diff(const Snapshot& previous, const Snapshot& next, const Between& between) {
  Comparison comparison(between);
  const auto before = by_name(previous);
  const auto after = by_name(next);
  for (const auto& lock : next.locks) {
    if (after.at(lock.name) != &lock) continue;
    const auto known = before.find(lock.name);
    if (known != before.end()) {
      comparison.compare(*known->second, lock);
    } else if (previous.complete) {
      comparison.compare(vacant(lock), lock);
    } else {
      comparison.appear(lock);
    }
  }
  if (!next.complete) return std::move(comparison).events();
  for (const auto& lock : previous.locks) {
    const bool is_first = before.at(lock.name) == &lock;
    if (is_first && !after.contains(lock.name)) comparison.compare(lock, vacant(lock));
  }
  return std::move(comparison).events();
}

}  // namespace holdfast::server
