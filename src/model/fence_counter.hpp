// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/names.hpp>

#include <atomic>

namespace holdfast::model {

// One counter per store, never per name and never forgotten, kept at or above the store's wall
// clock, so that a store that lost its data continues above every fence it ever gave out. Only a
// loss of data together with a clock set back can break that.
class FenceCounter {
 public:
  explicit FenceCounter(Fence last = 0) : last_(last) {}

  // A wall clock of 0 leaves the floor out: for a counter that cannot have been lost since a call
  // with the real one.
  Fence next(std::uint64_t wall_us);
  // Never goes back. Whether it was below, so that nobody else can have `at_least` from here.
  bool raise_to(Fence at_least);
  Fence last() const { return last_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Fence> last_;
};

}  // namespace holdfast::model
