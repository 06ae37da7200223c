// SPDX-License-Identifier: Apache-2.0
//
// The border between our coroutines and a user's. The operation runs by itself; the user's
// coroutine only waits for it and may be destroyed at any time, which cancels the operation and
// drops its result.
#pragma once

#include <holdfast/task.hpp>

#include "runtime/runtime.hpp"
#include "runtime/spawn.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

namespace holdfast::client {

template <typename T>
class Pending : public std::enable_shared_from_this<Pending<T>> {
 public:
  explicit Pending(std::shared_ptr<runtime::Runtime> runtime) : runtime_(std::move(runtime)) {}

  std::stop_token token() const { return cancel_.get_token(); }
  void cancel() { cancel_.request_stop(); }

  void complete(T value) {
    std::unique_lock lock(mutex_);
    if (abandoned_) return;  // the value's destructor gives back what it holds
    result_.emplace(std::move(value));
    if (!waiter_) return;
    lock.unlock();
    // Never inside somebody else's release: user code runs on the runtime's thread.
    runtime_->post([self = this->shared_from_this()] { self->resume(); });
  }

  void abandon() {
    std::unique_lock lock(mutex_);
    abandoned_ = true;
    waiter_ = {};
    auto dropped = std::exchange(result_, std::nullopt);
    lock.unlock();
    cancel();
  }

  bool suspend(std::coroutine_handle<> waiter) {
    const std::lock_guard lock(mutex_);
    if (result_) return false;
    waiter_ = waiter;
    return true;
  }
  T take() {
    const std::lock_guard lock(mutex_);
    return std::move(*result_);
  }

 private:
  void resume() {
    std::unique_lock lock(mutex_);
    auto ready = std::exchange(waiter_, {});
    lock.unlock();
    if (ready) ready.resume();
  }

  const std::shared_ptr<runtime::Runtime> runtime_;
  std::stop_source cancel_;
  std::mutex mutex_;
  std::optional<T> result_;         // guarded by mutex_
  std::coroutine_handle<> waiter_;  // guarded by mutex_
  bool abandoned_ = false;          // guarded by mutex_
};

template <typename T>
class PendingWait {
 public:
  explicit PendingWait(Pending<T>& pending) : pending_(pending) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) { return pending_.suspend(waiter); }
  T await_resume() { return pending_.take(); }

 private:
  Pending<T>& pending_;
};

// A task that calls `begin(stop_token)` when it is awaited and waits for the task it returns.
template <typename T, typename Begin>
Task<T> start_when_awaited(std::shared_ptr<runtime::Runtime> runtime, Begin begin,
                           std::stop_token stop) {
  const auto pending = std::make_shared<Pending<T>>(std::move(runtime));
  const auto leave = [](Pending<T>* waited_for) { waited_for->abandon(); };
  const std::unique_ptr<Pending<T>, decltype(leave)> whatever_happens(pending.get(), leave);
  const std::stop_callback forward(std::move(stop), [weak = std::weak_ptr(pending)] {
    if (const auto waited_for = weak.lock()) waited_for->cancel();
  });
  runtime::spawn(begin(pending->token()),
                 [pending](T&& value) { pending->complete(std::move(value)); });
  co_return co_await PendingWait<T>(*pending);
}

}  // namespace holdfast::client
