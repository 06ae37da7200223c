// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/runtime.hpp"
#include "runtime/timer_heap.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <memory>
#include <mutex>
#include <thread>

namespace holdfast::runtime {

// One thread around an io_context, with every timer behind one timerfd on CLOCK_BOOTTIME. Stores
// that talk to a network put their sockets on the same context. In a forked child there is no such
// thread: the copy must be left alone there, not even destroyed.
class LoopRuntime final : public Runtime {
 public:
  LoopRuntime();
  // One whose last user may be a job of its own, on the thread that cannot join itself.
  static std::shared_ptr<LoopRuntime> make();
  LoopRuntime(const LoopRuntime&) = delete;
  LoopRuntime& operator=(const LoopRuntime&) = delete;
  ~LoopRuntime() override;

  LocalTime now() const override { return LocalClock::now(); }
  void post(Job job) override;
  TimerId schedule(LocalTime when, Job job) override;
  bool cancel(TimerId timer) override;
  std::uint64_t random() override;
  bool on_own_thread() const override;

  bool is_of_a_parent() const;
  boost::asio::io_context& context() { return context_; }

 private:
  static void let_go(LoopRuntime* loop);
  void run();
  void wait_for_alarm();
  void ring();

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::posix::stream_descriptor alarm_;

  std::mutex mutex_;
  TimerHeap timers_;                       // guarded by mutex_
  LocalTime alarm_at_ = LocalTime::max();  // guarded by mutex_

  const std::uint32_t generation_;
  bool ends_by_itself_ = false;  // of its own thread
  std::thread thread_;
};

}  // namespace holdfast::runtime
