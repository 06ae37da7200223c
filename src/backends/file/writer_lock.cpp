// SPDX-License-Identifier: Apache-2.0
#include "backends/file/writer_lock.hpp"

#include "backends/file/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <thread>

namespace holdfast::backends::file {

namespace {

using std::chrono::nanoseconds;

std::int64_t micros_of(runtime::LocalTime time) {
  return std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
}

// The system's own clock, not the runtime's: a test that stops time must not stop the mutex.
[[maybe_unused]] timespec monotonic_after(nanoseconds wait) {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  const auto total = nanoseconds(at.tv_nsec) + wait;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(total);
  at.tv_sec += static_cast<time_t>(seconds.count());
  at.tv_nsec = static_cast<long>((total - seconds).count());
  return at;
}

#ifdef __SANITIZE_THREAD__
// GCC's thread sanitizer does not know pthread_mutex_clocklock, nor that a timed lock can find its
// owner dead; it only knows this.
int wait_for(pthread_mutex_t& mutex, nanoseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  int tried = EBUSY;
  while (tried == EBUSY && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    tried = pthread_mutex_trylock(&mutex);
  }
  return tried;
}
#else
int wait_for(pthread_mutex_t& mutex, nanoseconds patience) {
  const timespec until = monotonic_after(patience);
  return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until);
}
#endif

int lock_within(pthread_mutex_t& mutex, nanoseconds patience) {
  const int tried = pthread_mutex_trylock(&mutex);
  if (tried != EBUSY || patience <= nanoseconds::zero()) return tried;
  return wait_for(mutex, patience);
}

}  // namespace

Result<std::optional<WriterLock>> WriterLock::try_for(const WakeFile& wake, nanoseconds patience,
                                                      const runtime::Runtime& runtime) {
  WriterSection& section = wake.layout().writer;
  const int locked = lock_within(section.mutex, patience);
  if (locked == EBUSY || locked == ETIMEDOUT) return std::nullopt;
  if (locked != 0 && locked != EOWNERDEAD) {
    return fail(Errc::unavailable, fmt::format("the lock of the writers is broken: {}",
                                               std::generic_category().message(locked)));
  }
  if (locked == EOWNERDEAD) {
    pthread_mutex_consistent(&section.mutex);
    // What the dead one committed is there, but its messages may never have been sent.
    send_to_everybody(wake.layout());
    wake_everybody(wake.layout());
  }
  const auto now = runtime.now();
  section.pid.store(wake.pid(), std::memory_order_relaxed);
  section.since_us.store(micros_of(now), std::memory_order_relaxed);
  return WriterLock(section, now);
}

void WriterLock::unlock() noexcept {
  if (section_ != nullptr) pthread_mutex_unlock(&std::exchange(section_, nullptr)->mutex);
}

Result<WriterLock> lock_writer(const WakeFile& wake, const runtime::Runtime& runtime,
                               const Patience& patience) {
  nanoseconds slice{};
  while (true) {
    if (patience.stop.stop_requested()) {
      return fail(Errc::cancelled, "cancelled while the store was busy");
    }
    auto lock = WriterLock::try_for(wake, slice, runtime);
    if (!lock) return std::unexpected(std::move(lock.error()));
    if (*lock) return std::move(**lock);
    const auto now = runtime.now();
    if (now >= patience.deadline) return fail(Errc::unavailable, describe_writer(wake, now));
    slice = std::min<nanoseconds>(patience_slice, patience.deadline - now);
  }
}

std::string describe_writer(const WakeFile& wake, runtime::LocalTime now) {
  const WriterSection& writer = wake.layout().writer;
  const auto since = writer.since_us.load(std::memory_order_relaxed);
  const double seconds = static_cast<double>(micros_of(now) - since) / 1e6;
  return fmt::format("process {} has been inside the store for {:.1f} s and does not leave it",
                     writer.pid.load(std::memory_order_relaxed), std::max(seconds, 0.0));
}

}  // namespace holdfast::backends::file
