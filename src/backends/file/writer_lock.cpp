// SPDX-License-Identifier: Apache-2.0
#include "backends/file/writer_lock.hpp"

#include "backends/file/slots.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::backends::file {

namespace {

using std::chrono::nanoseconds;

std::int64_t micros_of(runtime::LocalTime time) {
  return std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
}

// A holder is inside for microseconds. So long we believe that it lives, then we ask; and then each
// time after twice as long, up to a slice.
constexpr nanoseconds first_doubt = std::chrono::milliseconds(2);

// What the dead one committed is there, but its messages may never have been sent.
void recover_from_dead_writer(WakeLayout& wake) {
  send_to_everybody(wake);
  wake_everybody(wake);
}

// The wake-up of a release can be lost, with a waiter that is killed before it takes the word or a
// holder that is killed before it wakes one. Those who sleep find the word free when they have
// slept for long enough.
bool take_within(const WakeFile& wake, nanoseconds patience) {
  LockWord& word = wake.layout().writer.word;
  // The system's own clock, not the runtime's: a test that stops time must not stop the waiters.
  const auto deadline = std::chrono::steady_clock::now() + patience;
  nanoseconds doubt = first_doubt;
  // The holder that has not moved for so long. Without patience there is one look at whoever it is.
  ProcessNumber suspect = patience > nanoseconds::zero() ? nobody : word.holder();
  while (true) {
    const ProcessNumber holder = word.holder();
    if (holder == nobody) {
      if (word.take_from(nobody, wake.life().number())) return true;
      continue;
    }
    const bool may_be_dead = holder == dead_holder || holder == suspect;
    if (may_be_dead && wake.life().take_over(word, holder)) {
      recover_from_dead_writer(wake.layout());
      return true;
    }
    const nanoseconds left = deadline - std::chrono::steady_clock::now();
    if (left <= nanoseconds::zero()) return false;
    suspect = word.sleep(holder, std::min(doubt, left)) ? holder : nobody;
    if (suspect == holder) doubt = std::min<nanoseconds>(2 * doubt, patience_slice);
  }
}

}  // namespace

// The time is read with the lock at hand.
WriterLock::WriterLock(const WakeFile& wake, const runtime::Runtime& runtime)
    : wake_(&wake), entered_at_(runtime.now()) {
  WriterSection& section = wake.layout().writer;
  section.pid.store(wake.pid(), std::memory_order_relaxed);
  section.since_us.store(micros_of(entered_at_), std::memory_order_relaxed);
}

std::optional<WriterLock> WriterLock::try_now(const WakeFile& wake,
                                              const runtime::Runtime& runtime) {
  if (!wake.layout().writer.word.take(wake.life().number())) return std::nullopt;
  return WriterLock(wake, runtime);
}

std::optional<WriterLock> WriterLock::try_for(const WakeFile& wake, nanoseconds patience,
                                              const runtime::Runtime& runtime) {
  if (auto lock = try_now(wake, runtime)) return lock;
  if (!take_within(wake, patience)) return std::nullopt;
  return WriterLock(wake, runtime);
}

void WriterLock::unlock() noexcept {
  if (wake_ == nullptr) return;
  const WakeFile& wake = *std::exchange(wake_, nullptr);
  wake.layout().writer.word.release(wake.life().number());
}

Result<WriterLock> lock_writer(const WakeFile& wake, const runtime::Runtime& runtime,
                               const Patience& patience) {
  const auto cancelled = [] { return fail(Errc::cancelled, "cancelled while the store was busy"); };
  if (patience.stop.stop_requested()) return cancelled();
  if (auto lock = WriterLock::try_now(wake, runtime)) return std::move(*lock);
  while (true) {
    const nanoseconds left = patience.deadline - runtime.now();
    auto lock = WriterLock::try_for(wake, std::min<nanoseconds>(patience_slice, left), runtime);
    if (lock) return std::move(*lock);
    if (patience.stop.stop_requested()) return cancelled();
    const auto now = runtime.now();
    if (now >= patience.deadline) return fail(Errc::unavailable, describe_writer(wake, now));
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
