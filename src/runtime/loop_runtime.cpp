// SPDX-License-Identifier: Apache-2.0
#include "runtime/loop_runtime.hpp"

#include "runtime/fork.hpp"
#include "runtime/random.hpp"

#include <boost/asio/post.hpp>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

namespace holdfast::runtime {

namespace {

thread_local const LoopRuntime* running_here = nullptr;

int make_alarm() {
  const int fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "timerfd_create");
  return fd;
}

void set_alarm(int fd, LocalTime when) {
  // An alarm at 0 would mean none at all.
  const auto since_boot = std::max(when.time_since_epoch(), LocalClock::duration(1));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = (since_boot - seconds).count();
  timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace

LoopRuntime::LoopRuntime()
    : work_(boost::asio::make_work_guard(context_)),
      alarm_(context_, make_alarm()),
      generation_(fork_generation()) {
  wait_for_alarm();
  thread_ = std::thread([this] {
    running_here = this;
    context_.run();
  });
}

LoopRuntime::~LoopRuntime() {
  // In a forked child the thread does not exist; there is nothing to stop or to wait for.
  if (generation_ != fork_generation()) {
    thread_.detach();
    return;
  }
  context_.stop();
  thread_.join();
}

void LoopRuntime::post(Job job) {
  boost::asio::post(context_, [job = std::move(job)]() mutable { job(); });
}

TimerId LoopRuntime::schedule(LocalTime when, Job job) {
  const std::lock_guard lock(mutex_);
  const TimerId timer = timers_.add(when, std::move(job));
  // A cancelled timer leaves the alarm as it is: one needless wake-up is cheaper than a system
  // call for every lock that is released before its first renewal.
  if (when < alarm_at_) {
    alarm_at_ = when;
    set_alarm(alarm_.native_handle(), when);
  }
  return timer;
}

bool LoopRuntime::cancel(TimerId timer) {
  const std::lock_guard lock(mutex_);
  return timers_.remove(timer);
}

std::uint64_t LoopRuntime::random() { return secure_random(); }

bool LoopRuntime::on_own_thread() const { return running_here == this; }

void LoopRuntime::wait_for_alarm() {
  alarm_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [this](boost::system::error_code failed) {
                      if (failed) return;
                      ring();
                      wait_for_alarm();
                    });
}

void LoopRuntime::ring() {
  std::uint64_t expirations = 0;
  [[maybe_unused]] const auto got = read(alarm_.native_handle(), &expirations, sizeof(expirations));
  std::unique_lock lock(mutex_);
  while (auto job = timers_.pop_due(LocalClock::now())) {
    lock.unlock();
    (*job)();
    job.reset();
    lock.lock();
  }
  alarm_at_ = timers_.next().value_or(LocalTime::max());
  if (alarm_at_ != LocalTime::max()) set_alarm(alarm_.native_handle(), alarm_at_);
}

std::shared_ptr<Runtime> shared_runtime() {
  struct Current {
    std::mutex mutex;
    std::weak_ptr<Runtime> runtime;
    std::uint32_t generation = 0;
  };
  // Never destroyed: a lease in a static object may outlive it. A forked child gets a fresh one,
  // since the parent's mutex may have been held at the fork.
  static Current* current = new Current;
  static std::atomic<std::uint32_t> seen{fork_generation()};
  if (auto was = seen.load();
      was != fork_generation() && seen.compare_exchange_strong(was, fork_generation())) {
    current = new Current;
  }
  const std::lock_guard lock(current->mutex);
  if (auto runtime = current->runtime.lock()) return runtime;
  // The last user may well be a callback on the runtime's own thread, which cannot join itself.
  std::shared_ptr<LoopRuntime> runtime(new LoopRuntime, [](LoopRuntime* loop) {
    if (loop->on_own_thread())
      std::thread([loop] { delete loop; }).detach();
    else
      delete loop;
  });
  current->runtime = runtime;
  return runtime;
}

}  // namespace holdfast::runtime
