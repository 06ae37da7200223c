// SPDX-License-Identifier: Apache-2.0
//
// What the client protocol takes from outside: time, timers, a place to run, and randomness. The
// simulator gives its own; nothing in src/client may ask the operating system directly.
#pragma once

#include "runtime/clock.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace holdfast::runtime {

using Job = std::move_only_function<void()>;

enum class TimerId : std::uint64_t { none = 0 };

class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual LocalTime now() const = 0;
  // Runs the job soon, on the runtime's own thread, after every job posted before it.
  virtual void post(Job job) = 0;
  // Runs the job once, on the runtime's own thread, not before `when`.
  virtual TimerId schedule(LocalTime when, Job job) = 0;
  // After it returned true the job will not run. False: it ran, runs just now, or is unknown.
  virtual bool cancel(TimerId timer) = 0;
  virtual std::uint64_t random() = 0;
  // True on the runtime's own thread. Deadlines and lost-signals fire there, so nothing on it may
  // block: a store that would block moves the work to a thread of its own.
  virtual bool on_own_thread() const = 0;
};

// The process' runtime: one thread, started with the first user and joined with the last.
std::shared_ptr<Runtime> shared_runtime();

// For a process that is about to become another program: waits until the threads of all runtimes
// that nobody uses any more have ended. False if some have not.
bool wait_for_end_of_runtimes(std::chrono::milliseconds at_most);

}  // namespace holdfast::runtime
