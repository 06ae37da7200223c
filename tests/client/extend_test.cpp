// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class Extend : public ClientTest {};

TEST_F(Extend, lasts_at_least_the_new_ttl_from_now_on) {
  auto lease = mine.take("orders", {.ttl = 3s});
  EXPECT_TRUE(lease.extend(60s).has_value());
  EXPECT_GT(lease.remaining(), 59s);
  EXPECT_GT(seen("orders").holders.at(0).remaining, 59s);
}

TEST_F(Extend, renewals_ask_for_the_new_ttl) {
  auto lease = mine.take("orders", {.ttl = 3s});
  value_of(lease.extend(60s));
  advance(300s);
  EXPECT_TRUE(lease.valid());
  EXPECT_LE(mine.line->count(Verb::renew), 17U) << "every 20 s now";
}

TEST_F(Extend, to_a_shorter_ttl_goes_on_being_renewed_in_time) {
  auto lease = mine.take("orders", {.ttl = 30s});
  value_of(lease.extend(1s));
  advance(300s);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(mine.core->lost.load(), 0U);
}

TEST_F(Extend, to_a_ttl_below_the_renewal_interval_goes_on_being_renewed_in_time) {
  auto lease = mine.take("orders", {.ttl = 30s, .renew_every = 10s});
  value_of(lease.extend(1s));
  advance(300s);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(mine.core->lost.load(), 0U);
}

TEST_F(Extend, of_a_lease_without_renewal_starts_none) {
  auto lease = mine.take("orders", {.ttl = 3s, .renew = false});
  value_of(lease.extend(10s));
  advance(9s);
  EXPECT_TRUE(lease.valid());
  advance(2s);
  EXPECT_FALSE(lease.valid());
  EXPECT_EQ(mine.line->count(Verb::renew), 1U);
}

TEST_F(Extend, that_failed_does_not_start_renewing_a_lease_that_wanted_none) {
  auto lease = mine.take("orders", {.ttl = 30s, .renew = false});
  mine.line->script(Verb::renew, Fault::refuse());
  EXPECT_EQ(error_of(lease.extend(60s)), Errc::unavailable);
  advance(31s);
  EXPECT_FALSE(lease.valid());
  EXPECT_EQ(mine.line->count(Verb::renew), 1U);
}

TEST_F(Extend, of_a_lost_lease_says_so) {
  auto lease = mine.take("orders", {.ttl = 1s, .renew = false});
  advance(2s);
  EXPECT_EQ(error_of(lease.extend(10s)), Errc::lost);
}

TEST_F(Extend, of_a_lease_that_is_gone_in_the_store_loses_it) {
  auto lease = mine.take("orders", {.ttl = 30s});
  value_of(other.api.force_release("orders", "a test"));
  EXPECT_EQ(error_of(lease.extend(10s)), Errc::lost);
  EXPECT_TRUE(lease.lost().stop_requested());
}

TEST_F(Extend, of_a_released_lease_is_not_held) {
  auto lease = mine.take("orders");
  value_of(lease.release());
  EXPECT_EQ(error_of(lease.extend(10s)), Errc::not_held);
}

TEST_F(Extend, of_a_paused_store_is_unavailable_and_the_lease_goes_on) {
  const auto lease = hold(mine, "orders", {.ttl = 30s});
  mine.line->pause();
  Running<Result<void>> extending(lease->extend(60s));
  advance(client::command_timeout);
  EXPECT_EQ(error_of(extending.result()), Errc::unavailable);
  mine.line->resume();
  advance(100s);
  EXPECT_GT(lease->remaining(), Micros::zero());
  lease->abandon();
}

TEST_F(Extend, whose_reply_is_lost_is_unknown_and_not_surely_without_effect) {
  const auto lease = hold(mine, "orders", {.ttl = 30s});
  mine.line->script(Verb::renew, Fault::lose_reply());
  Running<Result<void>> extending(lease->extend(60s));
  advance(client::command_timeout);
  EXPECT_EQ(error_of(extending.result()), Errc::outcome_unknown);
  lease->abandon();
}

}  // namespace
}  // namespace holdfast::test
