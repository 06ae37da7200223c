// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/process.hpp"

#include <coroutine>
#include <utility>

namespace holdfast::simulation {

// The naps of one thread of work, which can be cut short.
class Sleeper {
 public:
  explicit Sleeper(Process& process) : process_(process) {}

  class Nap {
   public:
    Nap(Sleeper& sleeper, Time duration) : sleeper_(sleeper), duration_(duration) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
      sleeper_.napping_ = waiter;
      sleeper_.set_alarm(duration_);
    }
    void await_resume() const noexcept {}

   private:
    Sleeper& sleeper_;
    const Time duration_;
  };
  Nap nap(Time duration) { return {*this, duration}; }

  // Whatever it naps for is over.
  void wake_up() {
    if (!napping_) return;
    process_.cancel(alarm_);
    set_alarm(0);
  }

 private:
  void set_alarm(Time after) {
    alarm_ = process_.schedule(process_.now() + std::chrono::nanoseconds(after), [this] {
      alarm_ = runtime::TimerId::none;
      std::exchange(napping_, {}).resume();
    });
  }

  Process& process_;
  runtime::TimerId alarm_{};
  std::coroutine_handle<> napping_;
};

}  // namespace holdfast::simulation
