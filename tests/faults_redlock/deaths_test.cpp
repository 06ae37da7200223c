// SPDX-License-Identifier: Apache-2.0
//
// Members that are killed, before a client comes and while it is there.
#include "faults_redlock/redlock_fixture.hpp"

namespace holdfast::faults {
namespace {

using testing::AnyOf;
using testing::Not;

class FewDeaths : public RedlockTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(FewDeaths, do_no_harm) {
  const auto client = open_all();
  for (std::size_t at = 0; at < GetParam(); ++at) server(at).kill();
  auto lease = client.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(gets_renewed(*lease, 3));
  EXPECT_TRUE(lease->valid());
  const auto other = open_all("retries=0");
  EXPECT_EQ(code_of(decided([&] { return other.mutex("orders").try_acquire(); })), "busy");
  EXPECT_TRUE(is_ok(lease->extend(40s)));
  EXPECT_TRUE(is_released(lease->release()));
  auto next = client.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(next));
  EXPECT_GT(next->fence(), lease->fence());
  EXPECT_TRUE(is_released(next->release()));
  EXPECT_EQ(left_behind(), "");
}
INSTANTIATE_TEST_SUITE_P(of_5, FewDeaths, testing::Values(0, 1, 2));

class Deaths : public RedlockTest {};

TEST_F(Deaths, of_a_majority_are_told_member_by_member_and_nothing_is_left) {
  const auto client = open_all("retries=0");
  kill({0, 2, 4});
  const Stopwatch watch;
  const auto lease = client.mutex("orders").try_acquire();
  EXPECT_LT(watch.time(), at_most(1500ms));
  ASSERT_EQ(code_of(lease), "quorum_not_reached") << message_of(lease);
  const auto message = message_of(lease);
  EXPECT_THAT(message, HasSubstr("'orders'"));
  EXPECT_THAT(message, HasSubstr("of 5 members granted it, 3 are needed"));
  for (const std::size_t at : {0, 2, 4}) {
    EXPECT_THAT(message, HasSubstr(address(at) + " unreachable"));
  }
  // It is certain as soon as the three are known to be away, so that these two may come too late.
  for (const std::size_t at : {1, 3}) {
    EXPECT_THAT(message, AnyOf(HasSubstr(address(at) + " granted"),
                               HasSubstr(address(at) + " no answer yet")));
  }
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Deaths, of_a_majority_end_a_wait_with_that_reason) {
  const auto client = open_all();
  kill({0, 1, 2});
  const Stopwatch watch;
  const auto lease = client.mutex("orders").acquire({.wait = 1s});
  EXPECT_EQ(code_of(lease), "quorum_not_reached") << message_of(lease);
  EXPECT_GE(watch.time(), 900ms);
  EXPECT_LT(watch.time(), at_most(3s));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Deaths, of_a_majority_during_a_hold_end_it_in_time) {
  const auto client = open_all();
  constexpr Micros ttl = 1s;
  auto lease = client.mutex("orders").acquire({.ttl = ttl, .wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  kill({0, 1, 2});
  const Stopwatch watch;
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
  EXPECT_LT(watch.time(), at_most(ttl + 1s));
  EXPECT_FALSE(lease->valid());
}

TEST_F(Deaths, before_the_opening_are_borne_if_they_are_few) {
  kill({1, 3});
  auto client = open(url());
  ASSERT_TRUE(is_ok(client));
  auto lease = client->mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(is_released(lease->release()));
}

TEST_F(Deaths, before_the_opening_are_told_if_they_are_many) {
  kill({0, 1, 3});
  const Stopwatch watch;
  const auto client = open(url());
  EXPECT_LT(watch.time(), at_most(5s));
  ASSERT_EQ(code_of(client), "quorum_not_reached");
  EXPECT_THAT(message_of(client), HasSubstr("2 of 5 members answer, 3 are needed"));
  for (const std::size_t at : {0, 1, 3}) EXPECT_THAT(message_of(client), HasSubstr(address(at)));
  for (const std::size_t at : {2, 4}) {
    EXPECT_THAT(message_of(client), Not(HasSubstr(address(at))));
  }
}

TEST_F(Deaths, before_the_opening_are_over_when_the_members_come) {
  kill({0, 1});
  const auto client = open_all();
  server(0).restart();
  server(1).restart();
  kill({2, 3});
  auto lease = client.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

}  // namespace
}  // namespace holdfast::faults
