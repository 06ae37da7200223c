// SPDX-License-Identifier: Apache-2.0
//
// What happened to some locks, seen from outside: what callers were told and believed, what the
// store did, and which faults were at work. The simulator writes it, runs against real servers
// write it, and `check` (check.hpp) says whether the promises were kept.
//
// An attempt (`op`) is one acquire with all that follows from it: the wait, the lease, its renewals
// and its end. Events stand in the order in which they happened.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace holdfast::history {

// Nanoseconds since the history began, on a clock that is never stepped.
using Time = std::int64_t;
inline constexpr Time for_ever = std::numeric_limits<Time>::max();

// Numbered from 1 in a history; 0 is nobody.
using OpId = std::uint32_t;
using NameId = std::uint32_t;
using ProcessId = std::uint32_t;

enum class What : std::uint8_t {
  // The caller. `asked` comes first and exactly once; see Attempt for what it says.
  asked,      // began to acquire
  queued,     // was told its place: number = place
  granted,    // has the lease: fence, until = believed until; claim = handed over, and not yet
              // confirmed for the whole ttl
  renewing,   // a renewal was sent
  renewed,    // a renewal was confirmed: since = when it was sent, until = believed until now
  failed,     // the acquire ended without a lease; detail = error code (to_string(Errc))
  releasing,  // the caller lets go and believes no longer
  released,   // the release was answered; detail = released, already_expired, held_by_another,
              // or an error code
  lost,       // the lease reported that it is lost
  read,       // read the resource under this lease: fence, number = the value; accepted
  wrote,      // wrote it: fence, number = the value; accepted says whether the resource took it.
              // since = when the caller last looked whether it has the lease, if that was earlier
  // The store, where it can be watched.
  held,          // gave or extended the lease of `op`: fence, until = when it ends by itself,
                 // since = when the command of `op` that did it was sent (0: a hand-over)
  freed,         // the lease of `op` was ended by a command of `by` (0: forced by an operator);
                 // number = leases the same owner still has on the name
  self_blocked,  // refused or queued `op` because of a lease of the same attempt
  // Faults. Of one process, or of the store if `process` is 0.
  unreachable,    // messages to or from the process are late or lost, until `until`; `delays`
                  // if none is lost, and all arrive when it is over
  stopped,        // the process does nothing at all, until `until` (for_ever: it crashed)
  data_lost,      // the store forgot something
  clock_stepped,  // the store's clock was set: number = by how many nanoseconds
  forced,         // an operator ended the leases on `name`; fence, if the resource was told of it
  // The whole history.
  calm,   // no fault from here on, and leases are held briefly; until - at = extra patience
  ended,  // nothing is known after this
};

// What `released` and `failed` say. More codes than the checker needs are `other`.
enum class Detail : std::uint8_t {
  none,
  released,
  already_expired,
  held_by_another,
  busy,
  timed_out,
  cancelled,
  unavailable,
  outcome_unknown,
  lost,
  not_held,
  other,
};

struct Event {
  Time at = 0;
  Time until = 0;
  Time since = 0;
  std::uint64_t fence = 0;
  std::int64_t number = 0;
  OpId op = 0;
  OpId by = 0;
  NameId name = 0;  // of `forced` only; an attempt knows its name
  ProcessId process = 0;
  What what = What::asked;
  Detail detail = Detail::none;
  bool accepted = false;
  bool claim = false;
  bool delays = false;
};

// What an attempt is about; said once, with `asked`.
struct Attempt {
  NameId name = 0;
  ProcessId process = 0;
  std::uint32_t owner = 0;     // the same number: the same owner
  std::uint32_t permits = 1;   // how many it wants of ...
  std::uint32_t capacity = 1;  // ... how many there are. Both UINT32_MAX: exclusive
  bool reentrant = false;      // leases of one owner never exclude each other
  bool fifo = false;           // waits in the queue of a lock that keeps its order
  bool waits = false;          // waits for its turn, until it is served or `give_up`
  OpId converts = 0;           // this attempt upgrades or downgrades the lease of that one
  Time ttl = 0;
  Time give_up = for_ever;  // when the caller stops waiting
  bool renews = false;      // the lease is renewed until the caller lets go, or for ...
  Time max_hold = 0;        // ... so long; 0: without a limit
  Time least_ttl = 0;       // the caller asked for no more than so long later on; 0: it did not
};

struct History {
  std::vector<Event> events;
  std::vector<Attempt> attempts;   // attempts[op - 1]
  std::vector<std::string> names;  // names[name - 1]

  const Attempt& attempt(OpId op) const { return attempts[op - 1]; }
};

}  // namespace holdfast::history
