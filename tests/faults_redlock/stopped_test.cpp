// SPDX-License-Identifier: Apache-2.0
//
// Members that are there and do not answer.
#include "faults_redlock/redlock_fixture.hpp"

namespace holdfast::faults {
namespace {

class Stopped : public RedlockTest {};

TEST_F(Stopped, members_cost_no_time_if_they_are_few) {
  constexpr Micros member_timeout = 3s;
  const auto client = open_all("timeout=3s");
  auto first = client.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(first));
  EXPECT_TRUE(is_released(first->release()));
  stop({1, 4});
  for (int i = 0; i < 10; ++i) {
    const Stopwatch watch;
    auto lease = client.mutex("orders").acquire({.wait = 20s});
    ASSERT_TRUE(is_ok(lease));
    EXPECT_TRUE(is_released(lease->release()));
    EXPECT_LT(watch.time(), at_most(member_timeout / 4));
  }
  cont();
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Stopped, members_are_too_slow_in_the_message_if_they_are_many) {
  const auto client = open_all("timeout=300ms&retries=0");
  stop({0, 1, 2});
  const Stopwatch watch;
  const auto lease = client.mutex("orders").try_acquire();
  EXPECT_LT(watch.time(), at_most(1500ms));
  ASSERT_EQ(code_of(lease), "quorum_not_reached");
  for (const std::size_t at : {0, 1, 2}) {
    EXPECT_THAT(message_of(lease), HasSubstr(address(at) + " too slow"));
  }
  cont();
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Stopped, members_are_asked_again_once_they_go_on) {
  const auto client = open_all();
  stop({0, 1, 2});
  EXPECT_EQ(code_of(client.mutex("orders").acquire({.wait = 700ms})), "quorum_not_reached");
  cont();
  auto lease = client.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Stopped, members_hear_a_release_later_if_they_are_many) {
  const auto client = open_all("timeout=300ms");
  auto lease = client.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  stop({0, 1, 2});
  const Stopwatch watch;
  EXPECT_EQ(code_of(lease->release()), "outcome_unknown");
  EXPECT_LT(watch.time(), at_most(5s));
  cont();
  EXPECT_EQ(left_behind(), "") << "its ttl is 30 s";
}

// The members that go on again find their old copy of the lease, and its end.
TEST_F(Stopped, members_keep_nothing_of_a_lease_that_was_released_meanwhile) {
  const auto client = open_all();
  auto lease = client.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  ASSERT_TRUE(
      eventually([&] { return fences("orders") == std::vector<Fence>(5, lease->fence()); }));
  stop({2, 3});
  EXPECT_TRUE(is_released(lease->release()));
  cont();
  EXPECT_EQ(left_behind(), "") << "its ttl is 30 s";
}

}  // namespace
}  // namespace holdfast::faults
