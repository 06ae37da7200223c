// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast::runtime {

struct Backoff {
  std::chrono::microseconds first = std::chrono::milliseconds(50);
  std::chrono::microseconds cap = std::chrono::seconds(2);
};

// The delay after `failures` attempts in a row (0 for the first retry): doubled each time up to the
// cap, and moved by up to a quarter either way so that clients that failed together part ways.
std::chrono::microseconds next_delay(const Backoff& backoff, unsigned failures,
                                     std::uint64_t random);

// `delay`, give or take up to `jitter`, and never nothing at all.
std::chrono::microseconds jittered(std::chrono::microseconds delay,
                                   std::chrono::microseconds jitter, std::uint64_t random);

}  // namespace holdfast::runtime
