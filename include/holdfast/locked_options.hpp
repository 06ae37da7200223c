// SPDX-License-Identifier: Apache-2.0
//
// How a callable of holdfast/locked.hpp gets its lock, and what it does without.
#pragma once

#include <holdfast/options.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast {

inline constexpr std::uint32_t max_attempts = 1000;
inline constexpr Duration min_attempt_delay = std::chrono::milliseconds(1);
inline constexpr Duration max_attempt_delay = std::chrono::hours(1);
inline constexpr double max_attempt_factor = 10;

// Trying several times, with pauses, instead of standing in line.
struct RetryPolicy {
  std::uint32_t attempts = 0;                       // altogether, up to max_attempts; 0: no retries
  Duration first = std::chrono::milliseconds(100);  // before the second attempt
  double factor = 2;                                // each pause to the one before: 1 to 10
  Duration cap = std::chrono::seconds(3);           // the longest pause
  double jitter = 0.25;  // a pause is longer or shorter by up to this share
};

struct LockedOptions {
  Duration ttl = default_ttl;
  // How long to wait in line. With retries: no attempt begins later than this, unless it is 0.
  Duration wait{};
  bool renew = true;
  Duration max_hold{};
  RetryPolicy retry{};
  std::string_view note{};
};

static_assert(std::is_trivially_destructible_v<LockedOptions>);

// What a call does that did not get the lock. Its callable's own errors and exceptions are never
// taken for that.

// It answers the error: Result<R> for a callable that returns R or Result<R>.
struct ReturnError {};
inline constexpr ReturnError return_error{};

// It answers that it did nothing where the lock is busy or the wait was in vain; any other error
// is answered. Result<std::optional<R>>; Result<bool>, whether it ran, for a callable of void.
struct SkipIfBusy {};
inline constexpr SkipIfBusy skip_if_busy{};

// It answers what `handler(const Error&)` does, which returns R or Result<R>.
template <typename Handler>
struct OrElse {
  Handler handler;
};
template <typename Handler>
OrElse<std::decay_t<Handler>> or_else(Handler&& handler) {
  return {std::forward<Handler>(handler)};
}

}  // namespace holdfast
