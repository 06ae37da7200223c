// SPDX-License-Identifier: Apache-2.0
//
// A runtime moved by hand: one thread, no sockets, and no time passes unless a test says so. The
// same seed and the same calls give the same run.
#pragma once

#include "runtime/runtime.hpp"
#include "runtime/timer_heap.hpp"

#include <chrono>
#include <deque>
#include <random>

namespace holdfast::test {

class HandRuntime final : public runtime::Runtime {
 public:
  using Nanos = std::chrono::nanoseconds;

  explicit HandRuntime(std::uint64_t seed = 1) : numbers_(seed) {}

  runtime::LocalTime now() const override { return now_; }
  void post(runtime::Job job) override { posted_.push_back(std::move(job)); }
  runtime::TimerId schedule(runtime::LocalTime when, runtime::Job job) override;
  bool cancel(runtime::TimerId timer) override { return timers_.remove(timer); }
  std::uint64_t random() override { return numbers_(); }
  bool on_own_thread() const override { return false; }

  // Runs what is posted, and what that posts.
  void run();
  // Moves the clock. Timers run in order, each at its own time, and posted jobs between them.
  void advance(Nanos time);
  // Moves the clock and runs nothing, as for a process that was stopped: timers are late after it.
  void stall(Nanos time) { now_ += time; }
  // Moves the clock from timer to timer until nothing is left to do. False if something still is
  // after `limit`.
  bool settle(Nanos limit = std::chrono::hours(48));

  std::size_t timers() const { return timers_.size(); }
  std::size_t jobs() const { return posted_.size(); }

 private:
  void fire_until(runtime::LocalTime end);

  runtime::LocalTime now_{std::chrono::hours(1000)};
  std::mt19937_64 numbers_;
  std::deque<runtime::Job> posted_;
  runtime::TimerHeap timers_;
};

// The same runtime with another clock: a store on another machine. Its clock shows another time
// and may run at another speed; timers stay those of the runtime.
class OtherClock final : public runtime::Runtime {
 public:
  // `ppm`: how many millionths faster (or slower, if negative) than the runtime's clock.
  OtherClock(std::shared_ptr<HandRuntime> base, std::chrono::nanoseconds offset, std::int64_t ppm)
      : base_(std::move(base)), start_(base_->now()), offset_(offset), ppm_(ppm) {}

  runtime::LocalTime now() const override;
  void post(runtime::Job job) override { base_->post(std::move(job)); }
  runtime::TimerId schedule(runtime::LocalTime when, runtime::Job job) override {
    return base_->schedule(when, std::move(job));
  }
  bool cancel(runtime::TimerId timer) override { return base_->cancel(timer); }
  std::uint64_t random() override { return base_->random(); }
  bool on_own_thread() const override { return base_->on_own_thread(); }

 private:
  const std::shared_ptr<HandRuntime> base_;
  const runtime::LocalTime start_;
  const std::chrono::nanoseconds offset_;
  const std::int64_t ppm_;
};

}  // namespace holdfast::test
