// SPDX-License-Identifier: Apache-2.0
//
// What the server counts. Names of locks are never labels: the number of series has a bound.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/view.hpp>

#include "server/metrics/contention.hpp"
#include "server/metrics/hold_times.hpp"
#include "server/metrics/instruments.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

inline constexpr std::size_t kind_count = 5;
inline constexpr std::size_t errc_count = 16;  // Errc begins at 1; 0 stands for success

// By the word of an Errc, or "ok".
class ByOutcome {
 public:
  void add(std::optional<Errc> failed) noexcept { counters_[failed ? index(*failed) : 0].add(); }
  const Counter& ok() const { return counters_[0]; }
  const Counter& of(Errc code) const { return counters_[index(code)]; }

 private:
  static std::size_t index(Errc code) { return static_cast<std::size_t>(code); }
  std::array<Counter, errc_count> counters_;
};

struct StoreMetrics {
  Histogram latency;
  ByOutcome commands;
  Counter changes;  // what is behind the address was replaced, or could not be reached for a while
};

// Of idempotency keys: what came of each attempt to begin a run, and how long runs took.
struct RunMetrics {
  Counter begun;
  Counter taken_over;
  Counter replayed;
  Counter mismatched;
  Counter in_progress;
  Counter failed;   // before, and it was told so
  Counter unknown;  // abandoned, and not to be taken over
  Histogram time;
  HoldTimes times;  // of those whose begin and end came through this server
};

// Calls of Forrst by what they were answered: each code of the protocol has a series of its own,
// and all codes of functions' own share one.
class ByCode {
 public:
  ByCode();
  // Empty: it went well.
  void add(std::string_view code) noexcept;
  const Counter& ok() const { return counters_[0]; }
  const Counter& other() const { return counters_[1]; }
  const Counter& known(std::size_t index) const { return counters_[2 + index]; }

 private:
  std::vector<Counter> counters_;  // ok, others, and those of forrst::known_codes in their order
};

struct Metrics {
  std::array<ByOutcome, kind_count> acquisitions;
  ByOutcome renewals;
  ByOutcome releases;
  Counter forced;
  Counter lost;          // leases that the server itself held, for sessions and patterns
  Counter expired_seen;  // leases that ended by themselves, as observed
  Histogram wait_time;
  Histogram hold_time;
  HoldTimes holds;
  Contention contention;
  std::shared_ptr<StoreMetrics> store = std::make_shared<StoreMetrics>();
  std::array<Counter, 6> http_by_status;  // by the first digit; 0 for answers nobody got
  Histogram http_time;                    // waits for a lock left out
  Counter denied;                         // without a token, with a wrong one, or without the verb
  Counter rate_allowed;                   // checks of rate limits that clients asked for
  Counter rate_denied;
  Counter rate_failed;   // the store did not answer
  Counter rate_limited;  // requests that server.rate_limits turned away
  Counter deadlocks;
  Counter deadlock_victims;
  RunMetrics runs;
  ByCode forrst;
};

// What is not counted but looked up.
struct Gauges {
  std::size_t connections = 0;
  std::size_t waiters = 0;  // through this server
  std::size_t event_streams = 0;
  std::size_t sessions = 0;
  std::size_t deadlocks = 0;
  std::optional<std::size_t> held;  // on the store, by anybody; nothing: not known
  std::optional<std::size_t> waiters_on_store;
  bool store_up = true;
  std::uint64_t audit_dropped = 0;
};

std::string exposition(const Metrics& metrics, const Gauges& gauges, std::string_view version);

}  // namespace holdfast::server
