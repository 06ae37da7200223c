// SPDX-License-Identifier: Apache-2.0
#include "runtime/backoff.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

constexpr Backoff usual{};

// The jitter is a quarter either way: 0 is the lowest, half the quarter's range the middle.
std::chrono::microseconds middle(const Backoff& backoff, unsigned failures) {
  const auto lowest = next_delay(backoff, failures, 0);
  return lowest * 4 / 3;
}

TEST(Backoff, doubles_from_50_milliseconds_up_to_2_seconds) {
  const std::chrono::microseconds expected[] = {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 2s, 2s};
  for (unsigned i = 0; i < std::size(expected); ++i) EXPECT_EQ(middle(usual, i), expected[i]);
}

TEST(Backoff, moves_by_a_quarter_either_way) {
  auto lowest = std::chrono::microseconds::max();
  auto highest = std::chrono::microseconds::zero();
  for (std::uint64_t random = 0; random < 100'000; ++random) {
    const auto delay = next_delay(usual, 1, random);
    lowest = std::min(lowest, delay);
    highest = std::max(highest, delay);
  }
  EXPECT_EQ(lowest, 75ms);
  EXPECT_EQ(highest, 125ms);
}

TEST(Backoff, stays_at_the_cap_after_any_number_of_failures) {
  for (const unsigned failures :
       {20U, 21U, 63U, 64U, 1000U, std::numeric_limits<unsigned>::max()}) {
    EXPECT_EQ(middle(usual, failures), 2s) << failures;
  }
}

TEST(Backoff, of_nothing_is_nothing) {
  EXPECT_EQ(next_delay({.first = 0us, .cap = 0us}, 3, 12345), 0us);
  EXPECT_LE(next_delay({.first = 3us, .cap = 3us}, 3, 12345), 3us);
}

TEST(Jittered, is_the_delay_give_or_take_the_jitter_and_never_nothing) {
  EXPECT_EQ(jittered(200ms, 0ms, 0), 200ms);
  EXPECT_EQ(jittered(200ms, 0ms, UINT64_MAX), 200ms);
  EXPECT_EQ(jittered(200ms, 100ms, 0), 100ms);
  EXPECT_EQ(jittered(200ms, 100ms, 100'000), 200ms);
  EXPECT_EQ(jittered(200ms, 100ms, 200'000), 300ms);
  EXPECT_EQ(jittered(200ms, 100ms, 200'001), 100ms) << "and from the start again";
  EXPECT_EQ(jittered(10ms, 200ms, 0), 1ms);
}

}  // namespace
}  // namespace holdfast::runtime
