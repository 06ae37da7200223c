// SPDX-License-Identifier: Apache-2.0
#include "model/fence_counter.hpp"

#include "model/lock_state.hpp"

namespace holdfast::model {

Fence FenceCounter::next(std::uint64_t wall_us) {
  const Fence fence = last_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (fence >= wall_us) return fence;
  raise_to(wall_us + limits::fence_headroom_us - 1);
  return last_.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool FenceCounter::raise_to(Fence at_least) {
  Fence seen = last_.load(std::memory_order_relaxed);
  while (seen < at_least &&
         !last_.compare_exchange_weak(seen, at_least, std::memory_order_relaxed)) {
  }
  return seen < at_least;
}

}  // namespace holdfast::model
