// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class Release : public ClientTest {};

TEST_F(Release, says_that_it_released) {
  auto lease = mine.take("orders");
  EXPECT_EQ(value_of(lease.release()), Released::released);
  EXPECT_TRUE(is_free("orders"));
  EXPECT_FALSE(lease.valid());
}

TEST_F(Release, a_second_time_answers_not_held_and_asks_nobody) {
  auto lease = mine.take("orders");
  value_of(lease.release());
  const auto next = other.take("orders");
  EXPECT_EQ(error_of(lease.release()), Errc::not_held);
  EXPECT_EQ(mine.line->count(Verb::release), 1U);
  EXPECT_EQ(holders("orders"), 1U);
}

TEST_F(Release, says_that_the_lease_had_expired) {
  auto lease = mine.take("orders", {.ttl = 1s, .renew = false});
  advance(2s);
  EXPECT_EQ(value_of(lease.release()), Released::already_expired);
}

TEST_F(Release, of_an_expired_lease_leaves_the_next_holder_alone) {
  auto lease = mine.take("orders", {.ttl = 1s, .renew = false});
  advance(2s);
  const auto next = other.take("orders");
  EXPECT_EQ(value_of(lease.release()), Released::held_by_another);
  EXPECT_EQ(holders("orders"), 1U);
  EXPECT_TRUE(next.valid());
}

TEST_F(Release, one_handle_used_twice_gives_two_leases_with_tokens_of_their_own) {
  auto lock = mine.api.mutex("orders");
  auto first = value_of(lock.acquire({.ttl = 1s, .renew = false}));
  advance(2s);
  auto second = value_of(lock.acquire());
  EXPECT_NE(first.owner(), second.owner());
  EXPECT_EQ(value_of(first.release()), Released::held_by_another);
  EXPECT_TRUE(second.valid());
  EXPECT_EQ(value_of(second.release()), Released::released);
}

TEST_F(Release, gives_up_after_its_own_time_when_the_store_is_paused) {
  const auto lease = hold(mine, "orders");
  mine.line->pause();
  Running<Result<Released>> releasing(lease->release());
  advance(client::release_timeout);
  EXPECT_EQ(error_of(releasing.result()), Errc::unavailable);
  EXPECT_EQ(mine.core->unreleased.load(), 1U);
  advance(30s);
  EXPECT_TRUE(is_free("orders")) << "the lease ends by itself";
}

TEST_F(Release, outlives_a_store_that_is_away_for_a_moment) {
  const auto lease = hold(mine, "orders");
  mine.line->script(Verb::release, Fault::refuse(), 4);
  Running<Result<Released>> releasing(lease->release());
  advance(client::release_timeout);
  EXPECT_EQ(value_of(releasing.result()), Released::released);
  EXPECT_EQ(mine.core->unreleased.load(), 0U);
}

TEST_F(Release, whose_reply_was_lost_is_repeated_and_counts_as_released) {
  const auto lease = hold(mine, "orders");
  mine.line->script(Verb::release, Fault::lose_reply());
  Running<Result<Released>> releasing(lease->release());
  EXPECT_TRUE(is_free("orders"));
  const auto next = other.take("orders");
  advance(client::command_timeout + 20ms);
  EXPECT_EQ(value_of(releasing.result()), Released::released);
  EXPECT_EQ(holders("orders"), 1U) << "the repetition touches nobody else";
}

TEST_F(Release, of_a_lost_lease_does_not_claim_to_have_released_what_another_holds) {
  const auto lease = hold(mine, "orders", {.ttl = 3s, .renew = false});
  advance(3s);
  const auto next = other.take("orders");
  mine.line->script(Verb::release, Fault::lose_reply());
  Running<Result<Released>> releasing(lease->release());
  advance(client::command_timeout + 20ms);
  EXPECT_EQ(value_of(releasing.result()), Released::held_by_another);
}

TEST_F(Release, that_was_repeated_until_the_lease_ran_out_does_not_claim_to_have_released_it) {
  const auto lease = hold(mine, "orders", {.ttl = 200ms, .renew = false});
  mine.line->script(Verb::release, Fault::lose_request());
  Running<Result<Released>> releasing(lease->release());
  advance(client::command_timeout + 20ms);
  EXPECT_EQ(value_of(releasing.result()), Released::already_expired);
}

TEST_F(Release, that_may_have_worked_is_not_reported_as_surely_without_effect) {
  const auto lease = hold(mine, "orders");
  mine.line->script(Verb::release, Fault::lose_reply());
  mine.line->script(Verb::release, Fault::refuse(), 100);
  Running<Result<Released>> releasing(lease->release());
  advance(client::release_timeout + 1s);
  EXPECT_EQ(error_of(releasing.result()), Errc::outcome_unknown);
}

TEST_F(Release, sends_no_renewal_after_it_wherever_it_falls) {
  for (auto cut = 0ms; cut < 700ms; cut += 3ms) {
    auto client = another_client();
    client.line->decide_by(
        [](Verb verb) { return verb == Verb::renew ? Fault::delay_reply(40ms) : Fault::none(); });
    auto lease = client.take("orders", {.ttl = 300ms});
    advance(cut);
    const auto sent = client.line->count(Verb::renew);
    EXPECT_EQ(value_of(lease.release()), Released::released);
    advance(5s);
    ASSERT_EQ(client.line->count(Verb::renew), sent) << cut.count();
    ASSERT_TRUE(is_free("orders"));
    ASSERT_EQ(runtime->timers(), 0U) << "nothing ticks for a lease that is gone";
  }
}

TEST_F(Release, in_the_very_moment_of_the_hand_over_leaves_nothing_that_renews) {
  auto holder = other.take("orders");
  auto lock = mine.api.mutex("orders");
  bool released = false;
  runtime::spawn(lock.async_acquire({.ttl = 3s, .wait = 10s}), [&](Result<Lease>&& lease) {
    released = value_of(lease->release()) == Released::released;
  });
  value_of(holder.release());
  runtime->run();
  EXPECT_TRUE(released);
  advance(30s);
  EXPECT_EQ(mine.line->count(Verb::renew), 0U);
}

TEST_F(Release, hands_over_to_the_next_in_line) {
  auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.wait = 5s});
  value_of(lease.release());
  runtime->run();
  EXPECT_TRUE(waiting.result().has_value());
}

TEST_F(Release, is_not_stopped_by_what_the_caller_cancelled) {
  std::stop_source stop;
  auto acquiring = mine.acquire("orders", {}, stop.get_token());
  stop.request_stop();
  EXPECT_TRUE(acquiring.result()->valid());
  EXPECT_EQ(value_of(acquiring.result()->release()), Released::released);
}

}  // namespace
}  // namespace holdfast::test
