// SPDX-License-Identifier: Apache-2.0
#include "runtime/backoff.hpp"

#include <algorithm>

namespace holdfast::runtime {

std::chrono::microseconds next_delay(const Backoff& backoff, unsigned failures,
                                     std::uint64_t random) {
  constexpr unsigned most_doublings = 20;
  const auto doubled = backoff.first * (std::int64_t{1} << std::min(failures, most_doublings));
  const auto delay = std::min(doubled, backoff.cap);
  const auto quarter = static_cast<std::uint64_t>(delay.count() / 4);
  const auto moved = static_cast<std::int64_t>(random % (2 * quarter + 1));
  return delay - std::chrono::microseconds(quarter) + std::chrono::microseconds(moved);
}

std::chrono::microseconds jittered(std::chrono::microseconds delay,
                                   std::chrono::microseconds jitter, std::uint64_t random) {
  const auto span = static_cast<std::uint64_t>(2 * jitter.count() + 1);
  const std::chrono::microseconds moved(static_cast<std::int64_t>(random % span) - jitter.count());
  return std::max<std::chrono::microseconds>(delay + moved, std::chrono::milliseconds(1));
}

}  // namespace holdfast::runtime
