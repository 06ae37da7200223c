// SPDX-License-Identifier: Apache-2.0
//
// One rate limit of the model and a clock that is moved by hand.
#pragma once

#include "model/rate_limit.hpp"
#include "support/random_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace holdfast {

inline void PrintTo(const RateOutcome& outcome, std::ostream* out) {
  *out << (outcome.allowed ? "allowed" : "denied") << " count " << outcome.count << " limit "
       << outcome.limit << " remaining " << outcome.remaining << " retry after "
       << outcome.retry_after.count() << " reset after " << outcome.reset_after.count();
}

}  // namespace holdfast

namespace holdfast::model {

using namespace std::chrono_literals;
using Verb = RateCommand::Verb;

inline constexpr std::array algorithms{RateAlgorithm::fixed_window, RateAlgorithm::sliding_window,
                                       RateAlgorithm::token_bucket};

inline RateRule fixed(std::uint32_t limit, Micros window, RateLayout layout = RateLayout::native) {
  return {.algorithm = RateAlgorithm::fixed_window,
          .limit = limit,
          .window = window,
          .burst = 0,
          .layout = layout};
}
inline RateRule sliding(std::uint32_t limit, Micros window) {
  return {.algorithm = RateAlgorithm::sliding_window, .limit = limit, .window = window};
}
inline RateRule bucket(std::uint32_t limit, Micros window, std::uint32_t burst = 0) {
  return {
      .algorithm = RateAlgorithm::token_bucket, .limit = limit, .window = window, .burst = burst};
}

class RateLimitTest : public testing::Test {
 protected:
  RateOutcome check(const RateRule& rule, std::uint32_t cost = 1) {
    return apply({Verb::check, rule, cost});
  }
  RateOutcome peek(const RateRule& rule, std::uint32_t cost = 1) {
    return apply({Verb::peek, rule, cost});
  }
  RateOutcome reset(const RateRule& rule) { return apply({Verb::reset, rule}); }

  RateOutcome apply(const RateCommand& command) {
    const auto admitted = admissible(command);
    EXPECT_TRUE(admitted.has_value()) << admitted.error().message;
    return step(state, command, now);
  }
  // What a check would say at another time; nothing is counted.
  RateOutcome check_at(StoreTime time, const RateRule& rule, std::uint32_t cost = 1) const {
    auto copy = state;
    return step(copy, {Verb::check, rule, cost}, time);
  }
  // How many single hits come through at once.
  std::uint32_t burst_of(const RateRule& rule) {
    std::uint32_t allowed = 0;
    while (check(rule).allowed && allowed <= 2 * rule.limit) ++allowed;
    return allowed;
  }

  RateState state;
  StoreTime now{1000h};  // where windows of an hour, a minute and a second begin
};

}  // namespace holdfast::model
