// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace holdfast::bench {

// Between processes, hence without FUTEX_PRIVATE_FLAG.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t while_value) {
  syscall(SYS_futex, &word, FUTEX_WAIT, while_value, nullptr, nullptr, 0);
}

inline void futex_wake(const std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace holdfast::bench
