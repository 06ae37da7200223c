// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace holdfast::runtime {

// Grows by one in the child of every fork(). What remembers another number belongs to the parent:
// its threads, locks and randomness must not be used.
std::uint32_t fork_generation() noexcept;

}  // namespace holdfast::runtime
