// SPDX-License-Identifier: Apache-2.0
//
// Sleeping on a word of shared memory. The words are in a mapped file, so the kernel is asked for
// the form that other processes share.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace holdfast::backends::file {

// Sleeps while the word has this value, but not for ever. True if the whole time has passed.
inline bool sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                        std::chrono::nanoseconds at_most) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at_most);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (at_most - seconds).count()};
  const long ended = syscall(SYS_futex, &word, FUTEX_WAIT, value, &timeout, nullptr, 0);
  return ended != 0 && errno == ETIMEDOUT;
}

inline void wake_sleepers(const std::atomic<std::uint32_t>& word, int at_most) {
  syscall(SYS_futex, &word, FUTEX_WAKE, at_most, nullptr, nullptr, 0);
}

}  // namespace holdfast::backends::file
