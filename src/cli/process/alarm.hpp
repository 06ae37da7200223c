// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/clock.hpp"

#include <sys/timerfd.h>

#include <algorithm>
#include <cstdint>

namespace holdfast::cli {

// Sets a timer of CLOCK_BOOTTIME, which also rings late if the machine slept; never if max(). A
// system call and nothing else, so that the guard can use it too.
inline void set_alarm(int timer, runtime::LocalTime when) {
  itimerspec spec{};
  if (when != runtime::LocalTime::max()) {
    // An alarm at 0 would mean none at all.
    const auto ns = std::max<std::int64_t>(when.time_since_epoch().count(), 1);
    spec.it_value.tv_sec = ns / 1'000'000'000;
    spec.it_value.tv_nsec = ns % 1'000'000'000;
  }
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace holdfast::cli
