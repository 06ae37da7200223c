// SPDX-License-Identifier: Apache-2.0
#include "support/hand_runtime.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test {

using runtime::LocalTime;

runtime::TimerId HandRuntime::schedule(LocalTime when, runtime::Job job) {
  return timers_.add(when, std::move(job));
}

void HandRuntime::run() {
  while (!posted_.empty()) {
    auto job = std::move(posted_.front());
    posted_.pop_front();
    job();
  }
}

void HandRuntime::fire_until(LocalTime end) {
  run();
  while (timers_.next() && *timers_.next() <= end) {
    // A timer that is late, after a stall, does not turn the clock back.
    now_ = std::max(now_, *timers_.next());
    auto job = timers_.pop_due(now_);
    (*job)();
    job.reset();
    run();
  }
}

void HandRuntime::advance(Nanos time) {
  const LocalTime end = now_ + time;
  fire_until(end);
  now_ = std::max(now_, end);
}

bool HandRuntime::settle(Nanos limit) {
  const LocalTime end = now_ + limit;
  fire_until(end);
  return timers_.size() == 0;
}

LocalTime OtherClock::now() const {
  const auto passed = base_->now() - start_;
  // A double keeps nanoseconds exactly for the hundred days a test may last.
  const auto drift = static_cast<std::int64_t>(static_cast<double>(passed.count()) *
                                               static_cast<double>(ppm_) / 1e6);
  return start_ + offset_ + passed + std::chrono::nanoseconds(drift);
}

}  // namespace holdfast::test
