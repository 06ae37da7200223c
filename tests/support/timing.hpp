// SPDX-License-Identifier: Apache-2.0
//
// Real time in tests. A test polls for a state with `eventually` instead of sleeping, and an upper
// bound on a duration goes through `at_most`, so that a busy machine fails no test.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace holdfast::test {

// How many times longer than on an idle machine something may take: HOLDFAST_TIME_FACTOR if it is
// set (1 to 1000), otherwise by the number of runnable threads per processor right now. At least 1,
// and never less than it was when this process last asked.
double time_factor();

// `bound` as it is meant on an idle machine, multiplied by the time factor.
template <class Rep, class Period>
std::chrono::microseconds at_most(std::chrono::duration<Rep, Period> bound) {
  using Exact = std::chrono::duration<double, std::micro>;
  return std::chrono::duration_cast<std::chrono::microseconds>(Exact(bound) * time_factor());
}

// For a duration that a test waits out, such as a ttl: longer by what the scheduler of a loaded
// machine may keep a thread from running, up to two seconds.
template <class Rep, class Period>
std::chrono::microseconds stretched(std::chrono::duration<Rep, Period> time) {
  constexpr std::chrono::milliseconds pause(250);
  const auto most = std::chrono::microseconds(8 * pause);
  return std::chrono::microseconds(time) + std::min(most, at_most(pause) - pause);
}

// True as soon as the condition is; false if it is not within `limit`. The limit is only there to
// end a failing test: it is generous, and no test passes because of it.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(30)) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  while (!condition()) {
    if (Clock::now() - began > at_most(limit)) return condition();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace holdfast::test
