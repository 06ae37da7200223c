// SPDX-License-Identifier: Apache-2.0
//
// How often something may happen, and what a check of that answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace holdfast {

// fixed_window counts from one multiple of the window to the next: cheap, and around that moment
// twice the limit may come at once. sliding_window never allows more than the limit in any window.
// token_bucket (GCRA) gives back a hit every window / limit, and lets `burst` of them come at once.
enum class RateAlgorithm : std::uint8_t { fixed_window = 1, sliding_window, token_bucket };

// The keys of other programs that count in the same windows, on stores that share keys. All of
// them are fixed windows that count what they deny too.
enum class RateLayout : std::uint8_t { native = 0, n8n, redisx };

// The stable words: "fixed_window", "sliding_window", "token_bucket"; "native", "n8n", "redisx".
std::string_view to_string(RateAlgorithm algorithm) noexcept;
std::string_view to_string(RateLayout layout) noexcept;

struct RateRule {
  RateAlgorithm algorithm = RateAlgorithm::sliding_window;
  std::uint32_t limit = 0;             // hits in a window: 1 to max_rate_limit
  std::chrono::microseconds window{};  // min_rate_window to max_rate_window
  // Of a token_bucket: how many tokens it holds, and so how many hits may come at once; 0: `limit`.
  std::uint32_t burst = 0;
  RateLayout layout = RateLayout::native;

  // What can be had at once, at most.
  constexpr std::uint32_t capacity() const {
    return algorithm == RateAlgorithm::token_bucket && burst != 0 ? burst : limit;
  }
  friend bool operator==(const RateRule&, const RateRule&) = default;
};

inline constexpr std::uint32_t max_rate_limit = 1'000'000'000;
inline constexpr std::chrono::microseconds min_rate_window = std::chrono::milliseconds(1);
inline constexpr std::chrono::microseconds max_rate_window = std::chrono::days(31);
// Of what is limited: "user-42", "api".
inline constexpr std::size_t max_scope_bytes = 400;

struct RateOutcome {
  bool allowed = false;     // of a peek: whether a check would be
  std::uint64_t count = 0;  // hits that count now, this one included if it was counted
  std::uint32_t limit = 0;  // RateRule::capacity
  std::uint32_t remaining = 0;
  std::chrono::microseconds retry_after{};  // until the same check is allowed; zero if it was
  std::chrono::microseconds reset_after{};  // until nothing counts any more, if nobody comes

  friend bool operator==(const RateOutcome&, const RateOutcome&) = default;
};

}  // namespace holdfast
