// SPDX-License-Identifier: Apache-2.0
#include "backends/file/lock_word.hpp"

#include "backends/file/futex.hpp"

namespace holdfast::backends::file {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(LockWord) == sizeof(std::uint32_t));

bool LockWord::sleep(ProcessNumber holder, std::chrono::nanoseconds at_most) {
  std::uint32_t seen = word_.load(std::memory_order_relaxed);
  if ((seen & ~sleepers) != holder.value) return false;
  if ((seen & sleepers) == 0 &&
      !word_.compare_exchange_strong(seen, seen | sleepers, std::memory_order_relaxed)) {
    return false;
  }
  return sleep_while(word_, holder.value | sleepers, at_most);
}

bool LockWord::take_from(ProcessNumber holder, ProcessNumber mine) noexcept {
  std::uint32_t seen = word_.load(std::memory_order_relaxed);
  while ((seen & ~sleepers) == holder.value) {
    if (word_.compare_exchange_weak(seen, mine.value | sleepers, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void LockWord::declare_dead(std::uint32_t index) noexcept {
  std::uint32_t seen = word_.load(std::memory_order_relaxed);
  while ((seen & ~sleepers) != 0 && ProcessNumber{seen & ~sleepers}.index() == index) {
    const std::uint32_t dead = dead_holder.value | (seen & sleepers);
    // Releases what the dead one wrote, which was acquired with its byte.
    if (word_.compare_exchange_weak(seen, dead, std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
      return;
    }
  }
}

void LockWord::release_to_sleepers(ProcessNumber mine) noexcept {
  std::uint32_t held = mine.value | sleepers;
  if (word_.compare_exchange_strong(held, 0, std::memory_order_release,
                                    std::memory_order_relaxed)) {
    wake_sleepers(word_, 1);
  }
}

}  // namespace holdfast::backends::file
