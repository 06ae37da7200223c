// SPDX-License-Identifier: Apache-2.0
#include "runtime/clock.hpp"

#include <time.h>

namespace holdfast::runtime {

namespace {

std::chrono::nanoseconds read_clock(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

LocalTime LocalClock::now() noexcept { return LocalTime(read_clock(CLOCK_BOOTTIME)); }

std::uint64_t wall_clock_us() noexcept {
  return static_cast<std::uint64_t>(read_clock(CLOCK_REALTIME) / std::chrono::microseconds(1));
}

}  // namespace holdfast::runtime
