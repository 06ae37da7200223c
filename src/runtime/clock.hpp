// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast::runtime {

// CLOCK_BOOTTIME: steady, and it goes on while the machine is suspended, so that a laptop that
// wakes up does not believe in last night's lease.
struct LocalClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<LocalClock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};
using LocalTime = LocalClock::time_point;

// Microseconds since 1970 by CLOCK_REALTIME. Only the floor of the fences may use it.
std::uint64_t wall_clock_us() noexcept;

}  // namespace holdfast::runtime
