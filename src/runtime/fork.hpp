// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast::runtime {

// Grows by one in the child of every fork(). What remembers another number belongs to the parent:
// its threads, locks and randomness must not be used.
std::uint32_t fork_generation() noexcept;

// One T for the process, for a static object. Made by the first who asks and never destroyed: a
// lease in another static object may outlive it. A forked child gets a fresh one, since the
// parent's may have been locked at the fork.
template <typename T>
class PerProcess {
 public:
  T& get() {
    Entry* seen = entry_.load();
    if (seen && seen->generation == fork_generation()) return seen->value;
    auto* const fresh = new Entry{fork_generation(), {}};
    if (entry_.compare_exchange_strong(seen, fresh)) return fresh->value;
    delete fresh;
    return seen->value;
  }

 private:
  struct Entry {
    std::uint32_t generation;
    T value;
  };
  std::atomic<Entry*> entry_ = nullptr;
};

}  // namespace holdfast::runtime
