// SPDX-License-Identifier: Apache-2.0
//
// From plain code into coroutines.
#pragma once

#include <holdfast/task.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <semaphore>
#include <utility>

namespace holdfast::runtime {

// A coroutine that runs by itself and frees itself.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    // The protocol reports by value; what is thrown here is out of memory or our own mistake.
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
};

// Starts the task on this thread and calls `done(value)` wherever it ends.
template <typename T, typename Done>
Detached spawn(Task<T> task, Done done) {
  T value = co_await std::move(task);
  done(std::move(value));
}

template <typename T>
void spawn(Task<T> task) {
  spawn(std::move(task), [](T&&) {});
}

// Runs the task to its end, blocking this thread while the task is suspended.
template <typename T>
T run_blocking(Task<T> task) {
  if (task.is_ready()) return task.take_ready();
  std::optional<T> result;
  std::binary_semaphore finished{0};
  spawn(std::move(task), [&](T&& value) {
    result.emplace(std::move(value));
    finished.release();
  });
  finished.acquire();
  return std::move(*result);
}

}  // namespace holdfast::runtime
