// SPDX-License-Identifier: Apache-2.0
//
// From plain code into coroutines.
#pragma once

#include <holdfast/task.hpp>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
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

// Runs the task to its end, blocking this thread while the task is suspended. A task that ends
// without suspending, as on an embedded store, costs no system call.
template <typename T>
T run_blocking(Task<T> task) {
  if (task.is_ready()) return task.take_ready();
  enum State : std::uint32_t { running, waited_for, finished };
  std::optional<T> result;
  std::atomic<std::uint32_t> state{running};
  spawn(std::move(task), [&](T&& value) {
    result.emplace(std::move(value));
    // The waiter may be gone after the exchange; waking needs the address alone, not what is there.
    if (state.exchange(finished) == waited_for) state.notify_one();
  });
  std::uint32_t seen = running;
  if (state.compare_exchange_strong(seen, waited_for)) state.wait(waited_for);
  return std::move(*result);
}

}  // namespace holdfast::runtime
