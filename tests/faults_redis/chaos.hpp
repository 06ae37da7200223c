// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace holdfast::faults {

// Some seconds of trouble, decided by the seed. In a process of its own, so that the next round
// begins without threads. True if every promise was kept.
bool run_round_apart(std::uint64_t seed);

}  // namespace holdfast::faults
