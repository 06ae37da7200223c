// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "backends/file/wake_file.hpp"
#include "runtime/runtime.hpp"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace holdfast::backends::file {

// The right to be inside the database, of one thread of one process: the word of the wake file. A
// killed process does not keep it, because those who wait ask the kernel whether it lives; a
// stopped one (Ctrl-Z) does, and costs the others an error at their deadline but never a hang.
class WriterLock {
 public:
  WriterLock(WriterLock&& other) noexcept
      : wake_(std::exchange(other.wake_, nullptr)), entered_at_(other.entered_at_) {}
  WriterLock& operator=(WriterLock&&) = delete;
  ~WriterLock() { unlock(); }

  void unlock() noexcept;
  // Read with the lock at hand, so later for whoever comes later. It is the time of the step.
  runtime::LocalTime entered_at() const noexcept { return entered_at_; }

  // Nothing if it is not free. No system call.
  static std::optional<WriterLock> try_now(const WakeFile& wake, const runtime::Runtime& runtime);
  // Nothing if it could not be had within `patience`. A dead holder is found after 2 ms, and at once
  // if there is no patience at all.
  static std::optional<WriterLock> try_for(const WakeFile& wake, std::chrono::nanoseconds patience,
                                           const runtime::Runtime& runtime);

 private:
  WriterLock(const WakeFile& wake, const runtime::Runtime& runtime);

  const WakeFile* wake_;
  runtime::LocalTime entered_at_;
};

// How long somebody is willing to wait for the lock. A deadline in the past means one try.
struct Patience {
  runtime::LocalTime deadline{};
  std::stop_token stop{};
};

// So often a waiting thread looks at its stop token and at the clock.
inline constexpr std::chrono::milliseconds patience_slice{50};

// Errors: unavailable (who has it, and for how long), cancelled.
Result<WriterLock> lock_writer(const WakeFile& wake, const runtime::Runtime& runtime,
                               const Patience& patience);

// "process 4711 has been inside the store for 3.2 s"
std::string describe_writer(const WakeFile& wake, runtime::LocalTime now);

}  // namespace holdfast::backends::file
