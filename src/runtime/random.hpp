// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace holdfast::runtime {

// 64 bits from the kernel's generator, fetched in batches; never the same ones in a forked child.
// Good for owner tokens.
std::uint64_t secure_random();

}  // namespace holdfast::runtime
