// SPDX-License-Identifier: Apache-2.0
#include "redis_fixture.hpp"

namespace holdfast::test {
namespace {

class RedisClock : public RedisTest {};

TEST_F(RedisClock, is_compared_with_ours_in_the_middle_of_the_round_trip) {
  const auto client = open_client();
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto offset = client.clock_offset();
    const auto round_trip = std::chrono::steady_clock::now() - begin;
    ASSERT_TRUE(offset) << offset.error().message;
    // Both read the same clock, each at its own moment, to a microsecond.
    EXPECT_LE(std::chrono::abs(*offset), round_trip / 2 + 2us);
  }
}

TEST_F(RedisClock, of_a_server_that_is_gone_is_unavailable) {
  const auto client = open_client();
  server.kill();
  const auto offset = client.clock_offset();
  ASSERT_FALSE(offset);
  EXPECT_EQ(offset.error().code, Errc::unavailable);
}

}  // namespace
}  // namespace holdfast::test
