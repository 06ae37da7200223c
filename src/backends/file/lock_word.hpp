// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace holdfast::backends::file {

// What a process is called in the wake file: the index of the byte that it keeps locked while it
// lives (life.hpp), and random bits. No pid or thread id: those mean something in one pid namespace
// only, and containers that share a folder have one each.
struct ProcessNumber {
  std::uint32_t value = 0;  // 31 bits; 0: none

  static constexpr unsigned index_bits = 16;
  static constexpr unsigned random_bits = 15;
  static ProcessNumber make(std::uint32_t index, std::uint64_t random) {
    constexpr std::uint64_t span = (std::uint64_t{1} << random_bits) - 1;
    return {(index << random_bits) | static_cast<std::uint32_t>(random % span + 1)};
  }
  std::uint32_t index() const noexcept { return value >> random_bits; }
  friend bool operator==(const ProcessNumber&, const ProcessNumber&) = default;
};

inline constexpr ProcessNumber nobody{};
// In place of the number of a holder that is known to be dead. Its index is given to no process.
inline constexpr ProcessNumber dead_holder{std::numeric_limits<std::uint32_t>::max() >> 1U};
inline constexpr std::uint32_t max_open_processes =
    (std::uint32_t{1} << ProcessNumber::index_bits) - 1;

// The lock of the writers as a word of shared memory: the number of the process that has it, and a
// bit that asks it to wake a sleeper when it lets go. Zero bytes are a free word. The word cannot
// know whether its holder lives; whoever calls `take_from` must.
class LockWord {
 public:
  // Takes a free word, without a system call.
  bool take(ProcessNumber mine) noexcept {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, mine.value, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  // Lets go and wakes one sleeper, if there may be any. A word that another process has stays as
  // it is.
  void release(ProcessNumber mine) noexcept {
    std::uint32_t held = mine.value;
    if (word_.compare_exchange_strong(held, 0, std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return;
    }
    release_to_sleepers(mine);
  }

  ProcessNumber holder() const noexcept {
    return {word_.load(std::memory_order_relaxed) & ~sleepers};
  }
  // Sleeps while this process, not `nobody`, has it. True if the whole time has passed, false if
  // the word may have changed. Whoever was here takes the word by `take_from`.
  bool sleep(ProcessNumber holder, std::chrono::nanoseconds at_most);
  // Takes it from this process, or from `nobody`. The next release wakes a sleeper: the caller may
  // not have been the only one.
  bool take_from(ProcessNumber holder, ProcessNumber mine) noexcept;
  // Puts `dead_holder` in the place of a process with this index.
  void declare_dead(std::uint32_t index) noexcept;

 private:
  static constexpr std::uint32_t sleepers = std::uint32_t{1} << 31U;
  void release_to_sleepers(ProcessNumber mine) noexcept;

  std::atomic<std::uint32_t> word_;
};

}  // namespace holdfast::backends::file
