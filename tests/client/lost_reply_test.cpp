// SPDX-License-Identifier: Apache-2.0
//
// A lost reply is not a failure: the command may have happened.
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class LostReply : public ClientTest {};

model::RequestId request_of(const Sent& sent) {
  const auto& verb = std::get<model::LockCommand>(sent.request.command).verb;
  if (const auto* acquire = std::get_if<model::Acquire>(&verb)) return acquire->request;
  if (const auto* renew = std::get_if<model::Renew>(&verb)) return renew->request;
  return std::get<model::Release>(verb).request;
}

TEST_F(LostReply, of_an_acquire_is_repeated_with_the_same_request_and_owner) {
  mine.line->script(Verb::acquire, Fault::lose_reply());
  auto acquiring = mine.acquire("orders", {.ttl = 10s, .wait = 5s});
  advance(client::command_timeout + 20ms);
  ASSERT_TRUE(acquiring.result().has_value());
  const auto asked = mine.line->history(Verb::acquire);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(request_of(asked[0]), request_of(asked[1]));
  EXPECT_EQ(holders("orders"), 1U) << "one owner, not two";
}

TEST_F(LostReply, the_repeated_acquire_is_told_what_is_left_and_never_a_fresh_ttl) {
  const auto start = now();
  mine.line->script(Verb::acquire, Fault::lose_reply());
  auto acquiring = mine.acquire("orders", {.ttl = 10s, .wait = 5s});
  advance(client::command_timeout + 20ms);
  ASSERT_TRUE(acquiring.done());
  EXPECT_LE(now() + acquiring.result()->remaining(), start + 10s - client::drift_allowance(9s, {}));
}

TEST_F(LostReply, of_a_try_is_reported_as_unknown_and_cleaned_up) {
  mine.line->script(Verb::acquire, Fault::lose_reply());
  auto acquiring = mine.acquire("orders");
  advance(client::command_timeout - 1us);
  EXPECT_EQ(holders("orders"), 1U);
  advance(1us);
  EXPECT_EQ(error_of(acquiring.result()), Errc::outcome_unknown);
  EXPECT_TRUE(is_free("orders"));
  const auto cleaned = mine.line->history(Verb::release);
  ASSERT_EQ(cleaned.size(), 1U);
  EXPECT_EQ(request_of(cleaned[0]), request_of(mine.line->history(Verb::acquire)[0]));
}

TEST_F(LostReply, nothing_runs_without_the_lock) {
  auto lease = other.take("orders");
  mine.line->script(Verb::acquire, Fault::refuse());
  bool ran = false;
  const auto done = mine.api.with_lock("orders", {}, [&](const Lease&) { ran = true; });
  EXPECT_EQ(error_of(done), Errc::unavailable);
  EXPECT_FALSE(ran);
}

TEST_F(LostReply, the_request_that_was_lost_is_asked_again_in_a_wait) {
  mine.line->script(Verb::acquire, Fault::lose_request());
  auto acquiring = mine.acquire("orders", {.ttl = 10s, .wait = 5s});
  advance(client::command_timeout + 20ms);
  ASSERT_TRUE(acquiring.result().has_value());
  EXPECT_GT(acquiring.result()->remaining(), 9800ms);
}

TEST_F(LostReply, a_repeated_acquire_is_not_a_second_entry_of_a_reentrant_lock) {
  auto lock = mine.api.reentrant("tree");
  mine.line->script(Verb::acquire, Fault::lose_reply(), 3);
  Running<Result<Lease>> acquiring(lock.async_acquire({.wait = 5s, .owner = "me"}));
  advance(3s);
  ASSERT_TRUE(acquiring.result().has_value());
  EXPECT_EQ(mine.line->count(Verb::acquire), 4U);
  EXPECT_EQ(holders("tree"), 1U);
  EXPECT_EQ(value_of(acquiring.result()->release()), Released::released);
  EXPECT_TRUE(is_free("tree")) << "one release frees it";
}

TEST_F(LostReply, a_repeated_release_of_a_reentrant_lock_does_not_count_down_twice) {
  auto lock = mine.api.reentrant("tree");
  const auto outer = value_of(lock.acquire({.owner = "me"}));
  auto inner = value_of(lock.acquire({.owner = "me"}));
  value_of(inner.release());
  mine.line->send_again(mine.line->history(Verb::release).at(0));
  EXPECT_EQ(holders("tree"), 1U);
}

TEST_F(LostReply, a_late_copy_of_a_grant_does_not_bring_a_released_lease_back) {
  auto lease = mine.take("orders", {.ttl = 2s});
  value_of(lease.release());
  mine.line->send_again(mine.line->history(Verb::acquire).at(0));
  EXPECT_EQ(holders("orders"), 1U) << "the copy is an orphan in the store";
  EXPECT_FALSE(lease.valid());
  auto next = other.acquire("orders", {.wait = 5s});
  advance(1s);
  EXPECT_FALSE(next.done());
  advance(1100ms);
  EXPECT_TRUE(next.done()) << "and is gone when its ttl ends";
  EXPECT_FALSE(lease.valid());
  EXPECT_EQ(mine.line->count(Verb::renew), 0U);
}

TEST_F(LostReply, a_renewal_answered_after_the_release_changes_nothing) {
  auto lease = mine.take("orders", {.ttl = 3s});
  mine.line->script(Verb::renew, Fault::delay_reply(300ms));
  advance(1100ms);
  EXPECT_EQ(mine.line->count(Verb::renew), 1U);
  value_of(lease.release());
  const auto next = other.take("orders");
  advance(2s);
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(next.valid());
  EXPECT_EQ(mine.line->count(Verb::renew), 1U);
}

TEST_F(LostReply, a_renewal_that_arrives_after_the_release_does_not_revive_the_lock) {
  auto lease = mine.take("orders", {.ttl = 3s});
  mine.line->script(Verb::renew, Fault::delay_request(300ms));
  advance(1100ms);
  value_of(lease.release());
  advance(1s);
  EXPECT_TRUE(is_free("orders"));
  EXPECT_EQ(mine.core->lost.load(), 0U) << "a lease that was given back is not lost";
}

TEST_F(LostReply, an_answer_that_took_longer_than_the_lease_is_not_believed) {
  mine.line->script(Verb::acquire, Fault::delay_reply(400ms));
  auto acquiring = mine.acquire("orders", {.ttl = 300ms});
  advance(400ms);
  EXPECT_EQ(error_of(acquiring.result()), Errc::timed_out);
  EXPECT_TRUE(is_free("orders"));
}

TEST_F(LostReply, a_late_answer_in_a_wait_is_asked_for_again) {
  mine.line->script(Verb::acquire, Fault::delay_reply(400ms));
  auto acquiring = mine.acquire("orders", {.ttl = 300ms, .wait = 5s});
  advance(402ms);
  ASSERT_TRUE(acquiring.result().has_value());
  EXPECT_TRUE(acquiring.result()->valid());
  EXPECT_EQ(holders("orders"), 1U);
}

}  // namespace
}  // namespace holdfast::test
