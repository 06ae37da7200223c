// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/runtime.hpp"
#include "runtime/timer_heap.hpp"
#include "simulation/dice.hpp"
#include "simulation/plan.hpp"

#include <algorithm>
#include <deque>

namespace holdfast::simulation {

// One process on one machine: a clock of its own, timers, and one thread that can be stopped. What
// comes in from outside is a timer too, so that a stopped process receives nothing.
class Process final : public runtime::Runtime {
 public:
  // `world_now` is the time that no process can see.
  Process(const Time& world_now, std::uint64_t seed);

  runtime::LocalTime now() const override { return local(world_now_); }
  void post(runtime::Job job) override { posted_.push_back(std::move(job)); }
  runtime::TimerId schedule(runtime::LocalTime when, runtime::Job job) override {
    due_ = std::min(due_, from_local(when));
    return timers_.add(when, std::move(job));
  }
  bool cancel(runtime::TimerId timer) override {
    const bool removed = timers_.remove(timer);
    look_ahead();
    return removed;
  }
  std::uint64_t random() override { return dice_.next(); }
  bool on_own_thread() const override { return true; }

  void arrive(Time at, runtime::Job job) { schedule(local(at), std::move(job)); }
  // When it has something to do next; for_ever if it has not.
  Time next() const { return std::max(due_, stopped_until_); }
  bool is_idle() const { return due_ == history::for_ever; }
  // One timer that is due, and all that follows from it at once.
  void turn();

  void stop_until(Time until) { stopped_until_ = until; }
  Time stopped_until() const { return stopped_until_; }

  Time from_local(runtime::LocalTime time) const { return (time - origin_).count(); }

 private:
  void look_ahead() {
    const auto next = timers_.next();
    due_ = next ? from_local(*next) : history::for_ever;
  }
  runtime::LocalTime local(Time time) const { return origin_ + std::chrono::nanoseconds(time); }

  const Time& world_now_;
  Dice dice_;
  const runtime::LocalTime origin_;  // no two processes share it
  Time stopped_until_ = 0;
  Time due_ = history::for_ever;
  runtime::TimerHeap timers_;
  std::deque<runtime::Job> posted_;
};

}  // namespace holdfast::simulation
