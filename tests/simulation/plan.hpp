// SPDX-License-Identifier: Apache-2.0
//
// What a seed stands for: the locks, who wants them, and what is going to go wrong.
#pragma once

#include "history/history.hpp"
#include "model/command.hpp"
#include "simulation/dice.hpp"

#include <cstdint>
#include <vector>

namespace holdfast::simulation {

using history::Time;

inline constexpr Time microsecond = 1'000;
inline constexpr Time millisecond = 1'000'000;
inline constexpr Time second = 1'000'000'000;

// As the library counts.
inline Micros micros(Time time) { return Micros(time / microsecond); }

// Where a history numbers processes, the members of a quorum have the numbers from here on.
inline constexpr history::ProcessId members_from = 1001;

// Each is "one in so many"; 0 is never. The first group is rolled for every message, the second at
// every turn of a process, the third whenever trouble comes, every now and then.
struct Faults {
  std::uint32_t lose_request = 0;
  std::uint32_t lose_reply = 0;
  std::uint32_t lose_notice = 0;
  std::uint32_t delay = 0;  // up to 4 ttl
  std::uint32_t duplicate = 0;
  std::uint32_t duplicate_notice = 0;
  std::uint32_t hold_back_queued = 0;  // the grant overtakes the reply that says Queued
  bool reorder = false;

  std::uint32_t stop = 0;           // up to 3 ttl
  std::uint32_t stop_at_grant = 0;  // as it is handed the lock

  std::uint32_t cancel = 0;  // of the attempts
  std::uint32_t force = 0;   // of the troubles, as all below
  std::uint32_t crash = 0;
  std::uint32_t partition = 0;
  std::uint32_t cut_subscription = 0;
  std::uint32_t restart = 0;   // with its data
  std::uint32_t amnesia = 0;   // without
  std::uint32_t failover = 0;  // with those of a moment ago
  std::uint32_t step_clock = 0;

  bool any_trouble() const {
    return (force | crash | partition | cut_subscription | restart | amnesia | failover |
            step_clock) != 0;
  }
};

// What the store of a world is.
enum class StoreKind : std::uint8_t {
  one_server,
  replicated,  // a primary with replicas, as Redis has them
  http,        // a Holdfast server, or two of them, behind a proxy
};

// Several servers, of which one is the primary and the others follow it.
struct ServersPlan {
  unsigned count = 0;                   // none: one server, without connections
  bool is_balanced = false;             // the address leads to any of them, else to the primary
  bool tells_who_it_is = true;          // a client may ask a server for its identity
  Time replication_lag = 0;             // usually
  std::vector<std::int64_t> ahead_us;   // their clocks
  std::uint32_t stall_replication = 0;  // of the troubles, as all below: for up to 2 ttl
  std::uint32_t keep_snapshot = 0;
  std::uint32_t refuse_writes = 0;  // no memory left, for a while
  std::uint32_t change_rate = 0;    // of the clocks
  std::uint32_t late_copies = 0;    // of what was sent by a connection that was given up
};

// Holdfast servers and what stands between them and the `http:` stores of their clients.
struct HttpPlan {
  unsigned fronts = 0;                // servers with one store behind them; none: no such world
  Time service_time = 0;              // of one request, after the one before it
  std::int64_t bytes_per_second = 0;  // of the line of a client; 0: as many as there are
  std::uint32_t answer_503 = 0;       // by a proxy, in the server's place
  std::uint32_t stall = 0;            // of the troubles: the servers stand still
  Time longest_stall = 0;
};

struct LockPlan {
  LockName name;
  model::LockSpec spec;
};

struct Plan {
  Time ttl = 0;
  unsigned processes = 0;
  unsigned workers = 0;  // in each of them
  unsigned enough_grants = 0;
  unsigned longest_history_ttls = 60;
  Time latency = 0;
  std::int64_t store_rate_ppm = 0;
  std::uint32_t drift_ppm = 10'000;  // that clients allow for
  bool store_queues = true;
  bool waiters_are_processes = false;  // as in `memory:`; else as on Redis
  // Owners that come back, leases that are left and adopted, several names at once.
  bool has_errands = false;
  std::vector<LockPlan> locks;
  std::size_t shared_locks = 0;  // those before it; the others belong to whoever hoards them
  unsigned hoarded() const { return static_cast<unsigned>(locks.size() - shared_locks); }
  Faults faults;
  ServersPlan servers;
  HttpPlan http;
};

Plan make_plan(StoreKind kind, Dice& dice);

}  // namespace holdfast::simulation
