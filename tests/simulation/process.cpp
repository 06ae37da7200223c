// SPDX-License-Identifier: Apache-2.0
#include "simulation/process.hpp"

#include <utility>

namespace holdfast::simulation {

Process::Process(const Time& world_now, std::uint64_t seed)
    : world_now_(world_now),
      dice_(seed),
      origin_(std::chrono::nanoseconds(dice_.between(1, 1'000'000) * second)) {}

void Process::turn() {
  if (auto job = timers_.pop_due(now())) {
    look_ahead();
    (*job)();
  }
  while (!posted_.empty()) {
    auto job = std::move(posted_.front());
    posted_.pop_front();
    job();
  }
}

}  // namespace holdfast::simulation
