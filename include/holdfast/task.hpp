// SPDX-License-Identifier: Apache-2.0
//
// Holdfast's awaitable. A Task starts when it is awaited, once, and hands its value over by move.
// It is either a coroutine or a value that was there from the start; the second kind costs no
// allocation, which is what makes an embedded store as cheap as a map.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace holdfast {

template <typename T>
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::optional<T> value;
    std::exception_ptr failure;
    std::coroutine_handle<> continuation = std::noop_coroutine();

    struct FinalAwaiter {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().continuation;
      }
      void await_resume() const noexcept {}
    };

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    FinalAwaiter final_suspend() const noexcept { return {}; }
    template <typename U = T>
    void return_value(U&& result) {
      value.emplace(std::forward<U>(result));
    }
    void unhandled_exception() noexcept { failure = std::current_exception(); }
  };

  // A task that is done already.
  explicit Task(T value) : ready_(std::move(value)) {}
  // The same, made in place: `make()` returns the value.
  template <typename Make>
  Task(std::in_place_t, Make&& make) : ready_(std::in_place, Made<Make>{make}) {}

  Task(Task&& other) noexcept
      : handle_(std::exchange(other.handle_, {})), ready_(std::move(other.ready_)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // True for a task made from a value: awaiting it does not suspend.
  bool is_ready() const noexcept { return ready_.has_value(); }
  T take_ready() { return std::move(*ready_); }

  bool await_ready() const noexcept { return is_ready(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().continuation = awaiting;
    return handle_;
  }
  T await_resume() {
    if (ready_) return std::move(*ready_);
    auto& promise = handle_.promise();
    if (promise.failure) std::rethrow_exception(promise.failure);
    return std::move(*promise.value);
  }

 private:
  using Handle = std::coroutine_handle<promise_type>;
  explicit Task(Handle handle) noexcept : handle_(handle) {}

  // Becomes the value where it is stored, so that a large one is never moved.
  template <typename Make>
  struct Made {
    Make& make;
    operator T() const { return make(); }
  };

  Handle handle_;
  std::optional<T> ready_;
};

}  // namespace holdfast
