// SPDX-License-Identifier: Apache-2.0
//
// What the rules share while a history is checked. `survey` reads it once and notes what lies in
// the future of an event; then the rules see one event after the other and keep their own marks.
// Nothing here is allocated per event, and nothing is freed between histories.
#pragma once

#include "history/check.hpp"
#include "history/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace holdfast::history {

using Index = std::uint32_t;
inline constexpr Index none = std::numeric_limits<Index>::max();
inline constexpr Time long_ago = std::numeric_limits<Time>::min();
inline constexpr Time second = 1'000'000'000;
inline constexpr std::uint32_t everything = std::numeric_limits<std::uint32_t>::max();

// The largest fence so far, and whose it was.
struct Mark {
  std::uint64_t fence = 0;
  OpId op = 0;

  void raise(std::uint64_t to, OpId by) {
    if (to > fence) *this = {to, by};
  }
};

// The largest fence of a name, over all of the history and since the store last lost data.
struct Marks {
  Mark ever;
  Mark since_loss;
  std::int64_t loss = -1;
};

// An attempt. Those that convert one another share a lease, known by the first of them.
struct OpNote {
  // By the survey.
  Index asked = none;
  Index queued = none;
  Index granted = none;
  Index failed = none;
  Index releasing = none;
  Index first_held = none;
  Index last_held = none;
  Index freed = none;
  OpId lease = 0;
  std::int64_t place = 0;
  Time end = for_ever;   // let go, lost, or crashed
  Time done = for_ever;  // nobody wants it from here on: failed, released, or crashed
  Time alive = 0;        // the last sign of it from its caller
  Time gone = for_ever;  // the store surely has it no longer
  // On the way: what is believed ...
  Time until = long_ago;
  Time lease_until = long_ago;    // of all who share the lease; noted by the first of them
  std::uint64_t lease_fence = 0;  // likewise, the latest that was told
  Index told = none;              // the event that told `until`
  Index begun = none;             // since when it is believed without a gap
  std::uint32_t weight = 0;
  OpId next = 0;
  bool listed = false;
  bool converted = false;  // somebody asked to convert it
  bool released = false;
  bool ousted = false;     // by an operator who told the resource
  bool had_ended = false;  // before another was granted the lock
  OpId superseded_by = 0;
  Index superseded = none;
  Marks floor;  // the grants that were complete when this one was asked for
  // ... the place in line, and what the store has.
  OpId ahead = 0;
  OpId behind = 0;
  bool in_line = false;
  bool in_store = false;
  std::uint64_t least_held_fence = 0;
  std::uint64_t held_fence = 0;
  Time held_until = 0;
  Index held = none;
  // The last answer that gave it more time: when its question was sent, and how long it was good
  // for then.
  Time answered = 0;
  Time worth = 0;
  bool claimed = false;  // handed over, and not confirmed since
};

struct NameNote {
  std::uint64_t weight = 0;  // of all leases in the list
  OpId leases = 0;           // those believed in, and those not let go since
  std::uint64_t forced_fence = 0;
  OpId line = 0;  // the waiters of a fifo lock, by place
  OpId line_end = 0;
  std::int64_t forced = -1;
  Marks told;
  Marks held;
  Mark resource;
  std::int64_t value = 0;
  OpId value_by = 0;
};

struct ProcessNote {
  Time fault_until = long_ago;
  Time crashed = for_ever;
};

struct Stop {
  ProcessId process = 0;
  Time at = 0;
  Time until = 0;
};

// A process, or the store, could not be talked to.
struct Trouble {
  ProcessId process = 0;
  Time at = 0;
  Time until = 0;
  bool delays = false;  // all that was sent arrived when it was over
};

struct Use {
  Time decided = 0;
  Index event = 0;
};

struct FenceNote {
  OpId op = 0;
  bool shared = false;
  bool came_back = false;  // with a store that returned to an older state
  Time gone = 0;           // when the last lease that shares it was surely gone
};

struct Finding {
  Rule rule{};
  Index event = 0;
  OpId op = 0;
  OpId other = 0;
};

struct Notes {
  const History* history = nullptr;
  std::vector<OpNote> ops;
  std::vector<NameNote> names;
  std::vector<ProcessNote> processes;
  std::vector<Stop> stops;
  std::vector<Trouble> troubles;
  std::vector<Use> uses;          // decided on earlier than they happened, by that time
  Table<FenceNote> fences;        // by fence and name
  Table<std::uint32_t> in_store;  // by owner and name: how many leases
  // Of the whole history.
  Index calm = none;
  Time ended = 0;
  bool has_renewals = false;  // they were written down when they were sent
  Time set_back = 0;          // by how much the store's clock was set back, all in all
  // Until now.
  std::int64_t data_lost = -1;
  std::int64_t stepped = -1;
  bool was_set_back = false;
  // The result.
  std::vector<Violation> found;
  std::array<std::size_t, 14> kept{};
  std::size_t count = 0;
  std::size_t limit = 0;

  void start(const History& of, std::size_t most);

  const Event& event(Index index) const { return history->events[index]; }
  const Attempt& attempt(OpId op) const { return history->attempt(op); }
  bool share_a_lease(OpId a, OpId b) const { return ops[a].lease == ops[b].lease; }
  OpNote& first_of(const OpNote& op) { return ops[op.lease]; }
  // When the lease that it is about was asked for: a conversion lives on what was told before.
  Index began(const OpNote& op) const { return std::min(op.asked, ops[op.lease].asked); }

  // Whether the store lost data, its clock was set or the name was forced since that event: then
  // nothing is promised about who holds what.
  bool disturbed(const NameNote& name, Index since) const {
    const std::int64_t last = std::max({data_lost, stepped, name.forced});
    return last > static_cast<std::int64_t>(since);
  }

  template <typename... Args>
  void report(const Finding& finding, fmt::format_string<Args...> why, Args&&... args) {
    ++count;
    // The first of each rule are kept, so that one rule cannot hide another.
    if (kept[static_cast<std::size_t>(finding.rule)]++ >= limit) return;
    found.push_back({finding.rule, finding.event, finding.op, finding.other,
                     fmt::format(why, std::forward<Args>(args)...)});
  }
};

// One event of an attempt, with what is known about it.
struct Moment {
  Index index;
  const Event& event;
  const Attempt& attempt;
  OpNote& op;
  NameNote& name;

  Finding breaks(Rule rule, OpId other = 0) const { return {rule, index, event.op, other}; }
};

// Sums of times stay within the type: `for_ever` and a little more is still for ever.
inline Time later(Time time, Time by) {
  Time sum = 0;
  if (!__builtin_add_overflow(time, by, &sum)) return sum;
  return by > 0 ? for_ever : long_ago;
}
inline Time times(Time time, std::int64_t factor) {
  Time product = 0;
  return __builtin_mul_overflow(time, factor, &product) ? for_ever : product;
}

// "1.250000 s", for sentences.
inline std::string at(Time time) {
  if (time == for_ever) return "never";
  return fmt::format("{:.6f} s", static_cast<double>(time) / static_cast<double>(second));
}

// How much of a lock, for sentences.
inline std::string amount(std::uint64_t permits) {
  return permits >= everything ? "all" : fmt::format("{}", permits);
}

// Leases that never exclude each other, since one owner has them.
inline bool is_re_entry(const Attempt& a, const Attempt& b) {
  return a.reentrant && b.reentrant && a.owner == b.owner;
}

// Is the history one at all? False if the rules could not even look at it.
bool survey(Notes& notes);

// The rules, by what happens. Each knows only its own marks.
namespace fences {
void on_asked(const Moment& now);
// Whether the fence was one that another lease of the same owner has: a re-entry.
bool on_granted(Notes& notes, const Moment& now);
bool on_held(Notes& notes, const Moment& now);
void on_renewed(Notes& notes, const Moment& now);
}  // namespace fences

namespace belief {
void on_asked(Notes& notes, const Moment& now);
void on_granted(Notes& notes, const Moment& now);
void on_renewed(Notes& notes, const Moment& now);
// Somebody acts on the lease, having looked at it at that time.
void on_used(Notes& notes, const Moment& now, Time decided);
}  // namespace belief

namespace leases {
void on_renewing(Notes& notes, const Moment& now);
void on_renewed(Notes& notes, const Moment& now);
void on_released(Notes& notes, const Moment& now);
void on_held(Notes& notes, const Moment& now);
void on_freed(Notes& notes, const Moment& now);
void on_self_blocked(Notes& notes, const Moment& now);
void at_the_end(Notes& notes);
}  // namespace leases

namespace resource {
void on_used(Notes& notes, const Moment& now);
}  // namespace resource

namespace line {
void on_queued(Notes& notes, const Moment& now);
void on_served(Notes& notes, const Moment& now, bool re_entry);
void on_left(Notes& notes, const Moment& now);
}  // namespace line

namespace needless {
void on_granted(const Moment& now);
void on_renewed(const Moment& now);
void on_lost(Notes& notes, const Moment& now);
}  // namespace needless

namespace answers {
void on_failed(Notes& notes, const Moment& now);
}  // namespace answers

namespace deadlines {
void on_renewed(Notes& notes, const Moment& now);
void at_the_end(Notes& notes);
}  // namespace deadlines

}  // namespace holdfast::history
