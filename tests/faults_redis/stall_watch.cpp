// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/stall_watch.hpp"

#include <algorithm>

namespace holdfast::faults {

namespace {

constexpr Time noticeable = 8 * millisecond;
// Whoever had to stand still has to catch up first.
constexpr Time most_to_catch_up = 300 * millisecond;

}  // namespace

StallWatch::StallWatch(SharedLog& log, ProcessId first, ProcessId last)
    : log_(log),
      first_(first),
      last_(last),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void StallWatch::run(const std::stop_token& stop) {
  Time before = log_.now();
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Time now = log_.now();
    const Time gap = now - before;
    if (gap > noticeable) {
      lost_us_ += 2 * gap / 1000;
      const Time until = now + std::min(gap, most_to_catch_up);
      for (ProcessId id = first_; id <= last_; ++id) log_.fault(What::stopped, id, before, until);
    }
    before = now;
  }
}

}  // namespace holdfast::faults
