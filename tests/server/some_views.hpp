// SPDX-License-Identifier: Apache-2.0
//
// Holders and waiters as a store would list them.
#pragma once

#include <holdfast/view.hpp>

#include "text/json.hpp"

#include <chrono>
#include <cstdint>

namespace holdfast::server {

inline constexpr text::WallTime noon{std::chrono::seconds(1'794'744'000)};

inline HolderView holding(Fence fence, Micros remaining = std::chrono::seconds(30),
                          Micros held_for = Micros::zero()) {
  return {.fence = fence, .remaining = remaining, .held_for = held_for, .metadata = nullptr};
}

inline WaiterView queued(std::uint64_t party, Micros waiting_for = Micros::zero()) {
  return {.party = party, .waiting_for = waiting_for, .metadata = nullptr};
}

}  // namespace holdfast::server
