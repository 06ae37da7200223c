// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/metrics.hpp>

#include <atomic>

namespace holdfast::client {

// A number that only grows, counted from any thread.
class Counter {
 public:
  void add() noexcept { value_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// What is counted beside the leases themselves; Holdings has those.
struct Counters {
  Counter busy, timed_out, cancelled, failed;  // acquires
  struct Runs {
    Counter fresh, took_over, replayed, mismatch, in_progress, failed_before, unknown, errors;
  } runs;
  Counter rate_allowed, rate_denied;

  // An acquire that ended with an error.
  void not_granted(Errc why) noexcept;
  void count(ClientMetrics& metrics) const;
};

}  // namespace holdfast::client
