// SPDX-License-Identifier: Apache-2.0
#include "runtime/loop_runtime.hpp"

#include "runtime/fork.hpp"
#include "runtime/random.hpp"

#include <boost/asio/post.hpp>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <system_error>

namespace holdfast::runtime {

namespace {

thread_local const LoopRuntime* running_here = nullptr;

// Loops that are there, or whose thread has not ended.
class Living {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void remove() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  bool wait_until_none(std::chrono::milliseconds at_most) {
    std::unique_lock lock(mutex_);
    return none_.wait_for(lock, at_most, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::size_t count_ = 0;
};

Living& living() {
  static PerProcess<Living> per_process;
  return per_process.get();
}

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
  thread_ = std::thread([this] { run(); });
}

void LoopRuntime::run() {
  running_here = this;
  context_.run();
  if (!ends_by_itself_) return;
  running_here = nullptr;
  thread_.detach();
  delete this;
  living().remove();
}

bool LoopRuntime::is_of_a_parent() const { return generation_ != fork_generation(); }

LoopRuntime::~LoopRuntime() {
  context_.stop();
  if (thread_.joinable()) thread_.join();
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

std::shared_ptr<LoopRuntime> LoopRuntime::make() {
  std::shared_ptr<LoopRuntime> loop(new LoopRuntime, &let_go);
  living().add();
  return loop;
}

void LoopRuntime::let_go(LoopRuntime* loop) {
  // A forked child shares the parent's epoll: taking it down would stop the parent's timers.
  if (loop->is_of_a_parent()) return;
  if (!loop->on_own_thread()) {
    delete loop;
    return living().remove();
  }
  // No other thread is started for it, which would not be possible while the process becomes
  // another program.
  loop->ends_by_itself_ = true;
  loop->context_.stop();
}

bool wait_for_end_of_runtimes(std::chrono::milliseconds at_most) {
  return living().wait_until_none(at_most);
}

std::shared_ptr<Runtime> shared_runtime() {
  struct Current {
    std::mutex mutex;
    std::weak_ptr<Runtime> runtime;  // guarded by mutex
  };
  static PerProcess<Current> per_process;
  Current& current = per_process.get();
  const std::lock_guard lock(current.mutex);
  if (auto runtime = current.runtime.lock()) return runtime;
  auto runtime = LoopRuntime::make();
  current.runtime = runtime;
  return runtime;
}

}  // namespace holdfast::runtime
