// SPDX-License-Identifier: Apache-2.0
//
// What a client has counted since it was opened, its copies included. Client::metrics gives a copy;
// the numbers are read one after another, while others go on counting.
#pragma once

#include <holdfast/options.hpp>

#include <array>
#include <chrono>
#include <cstdint>

namespace holdfast {

// How long something took: how often, altogether, at most, and how often up to each bound.
struct Timing {
  static constexpr std::array<Duration, 7> bounds{
      std::chrono::milliseconds(1), std::chrono::milliseconds(10), std::chrono::milliseconds(100),
      std::chrono::seconds(1),      std::chrono::seconds(10),      std::chrono::minutes(1),
      std::chrono::minutes(10)};

  std::uint64_t count = 0;
  Duration total{};
  Duration longest{};
  // Those that took at most bounds[i] and longer than the bound before; the last: longer than all.
  std::array<std::uint64_t, bounds.size() + 1> within{};

  void add(Duration time) noexcept {
    std::size_t bucket = 0;
    while (bucket < bounds.size() && time > bounds[bucket]) ++bucket;
    ++within[bucket];
    ++count;
    total += time;
    if (time > longest) longest = time;
  }
  void add(const Timing& other) noexcept {
    for (std::size_t i = 0; i < within.size(); ++i) within[i] += other.within[i];
    count += other.count;
    total += other.total;
    if (other.longest > longest) longest = other.longest;
  }
};

struct ClientMetrics {
  // How acquires ended. One that was refused before the store was asked is not counted.
  std::uint64_t granted = 0;
  std::uint64_t busy = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t failed = 0;  // every other error
  // From the call to the grant, of those granted.
  Timing wait{};

  // Leases that this client holds now; each leaves when it is released, lost or detached, however
  // that goes.
  std::uint64_t held = 0;
  // From the grant to that end.
  Timing hold{};
  std::uint64_t lost = 0;
  // Leases that could not be given back in time, and ended with their ttl.
  std::uint64_t unreleased = 0;

  // What a begin of an idempotent run found.
  struct Runs {
    std::uint64_t fresh = 0;      // nothing: it runs
    std::uint64_t took_over = 0;  // a run that was never heard of again: it runs in its place
    std::uint64_t replayed = 0;
    std::uint64_t mismatch = 0;
    std::uint64_t in_progress = 0;  // still so at the end of the wait
    std::uint64_t failed_before = 0;
    std::uint64_t unknown = 0;  // abandoned, and not taken over
    std::uint64_t errors = 0;   // nothing could be found out
  } runs{};

  std::uint64_t rate_allowed = 0;
  std::uint64_t rate_denied = 0;
};

}  // namespace holdfast
