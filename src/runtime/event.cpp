// SPDX-License-Identifier: Apache-2.0
#include "runtime/event.hpp"

#include <mutex>
#include <utility>

namespace holdfast::runtime {

struct Event::Shared : std::enable_shared_from_this<Event::Shared> {
  explicit Shared(std::shared_ptr<Runtime> given) : runtime(std::move(given)) {}

  void resume_at_deadline(std::uint64_t of_wait) {
    std::unique_lock lock(mutex);
    if (wait != of_wait || !waiter) return;
    auto ready = std::exchange(waiter, {});
    lock.unlock();
    ready.resume();
  }

  const std::shared_ptr<Runtime> runtime;
  std::mutex mutex;
  bool notified = false;
  std::coroutine_handle<> waiter;
  std::uint64_t wait = 0;  // which wait a late timer belongs to
  TimerId timer{};
};

Event::Event(std::shared_ptr<Runtime> runtime)
    : shared_(std::make_shared<Shared>(std::move(runtime))) {}

Event::~Event() {
  const std::lock_guard lock(shared_->mutex);
  shared_->waiter = {};
  if (shared_->timer != TimerId::none) shared_->runtime->cancel(shared_->timer);
}

void Event::notify() {
  const auto shared = shared_;
  std::unique_lock lock(shared->mutex);
  shared->notified = true;
  if (!shared->waiter) return;
  auto ready = std::exchange(shared->waiter, {});
  lock.unlock();
  ready.resume();
}

bool Event::Wait::await_suspend(std::coroutine_handle<> waiter) {
  // Once the lock is free another thread may resume the coroutine and destroy the event.
  const auto shared = shared_.shared_from_this();
  const std::lock_guard lock(shared->mutex);
  if (shared->notified) return false;
  shared->waiter = waiter;
  ++shared->wait;
  if (deadline_ != LocalTime::max()) {
    shared->timer = shared->runtime->schedule(
        deadline_, [shared, of_wait = shared->wait] { shared->resume_at_deadline(of_wait); });
  }
  return true;
}

bool Event::Wait::await_resume() {
  const std::lock_guard lock(shared_.mutex);
  if (const TimerId timer = std::exchange(shared_.timer, TimerId::none); timer != TimerId::none) {
    shared_.runtime->cancel(timer);
  }
  return std::exchange(shared_.notified, false);
}

}  // namespace holdfast::runtime
