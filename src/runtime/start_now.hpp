// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/spawn.hpp"

#include <coroutine>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::runtime {

// The end of a task that was started before anybody waited for it.
template <typename T>
class Ending {
 public:
  void complete(T&& value) {
    std::unique_lock lock(mutex_);
    value_.emplace(std::move(value));
    const auto ready = std::exchange(waiter_, {});
    lock.unlock();
    if (ready) ready.resume();
  }
  // False if it is there already.
  bool wait(std::coroutine_handle<> waiter) {
    const std::lock_guard lock(mutex_);
    if (!value_) waiter_ = waiter;
    return !value_;
  }
  bool is_there() {
    const std::lock_guard lock(mutex_);
    return value_.has_value();
  }
  // Once it is there.
  T take() { return std::move(*value_); }

 private:
  std::mutex mutex_;
  std::optional<T> value_;          // guarded by mutex_
  std::coroutine_handle<> waiter_;  // guarded by mutex_
};

template <typename T>
struct EndingWait {
  std::shared_ptr<Ending<T>> ending;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) { return ending->wait(waiter); }
  T await_resume() { return ending->take(); }
};

template <typename T>
Task<T> wait_for_ending(std::shared_ptr<Ending<T>> ending) {
  EndingWait<T> wait{std::move(ending)};
  co_return co_await wait;
}

// Starts the task on this thread. If it ends without suspending, as on an embedded store, what is
// returned is ready, and whoever asks first whether it is need not suspend either.
template <typename T>
Task<T> start_now(Task<T> task) {
  if (task.is_ready()) return task;
  auto ending = std::make_shared<Ending<T>>();
  spawn(std::move(task), [ending](T&& value) { ending->complete(std::move(value)); });
  if (ending->is_there()) return Task<T>(ending->take());
  return wait_for_ending(std::move(ending));
}

}  // namespace holdfast::runtime
