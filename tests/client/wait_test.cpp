// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class Wait : public ClientTest {};

TEST_F(Wait, a_waiter_is_handed_the_lock_with_no_further_command) {
  auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.ttl = 10s, .wait = 60s});
  EXPECT_FALSE(waiting.done());
  EXPECT_EQ(waiters("orders"), 1U);
  const auto asked = other.line->count(Verb::acquire);
  EXPECT_EQ(value_of(lease.release()), Released::released);
  runtime->run();
  auto& won = waiting.result();
  ASSERT_TRUE(won.has_value());
  EXPECT_GT(won->fence(), lease.fence());
  EXPECT_EQ(other.line->count(Verb::acquire), asked);
  EXPECT_EQ(other.line->count(Verb::renew), 0U) << "the first renewal confirms it later";
}

TEST_F(Wait, the_first_renewal_turns_a_claim_into_a_full_lease) {
  auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.ttl = 10s, .wait = 60s});
  value_of(lease.release());
  runtime->run();
  ASSERT_TRUE(waiting.result().has_value());
  EXPECT_TRUE(seen("orders").holders.at(0).claimed);
  EXPECT_LE(waiting.result()->remaining(), 500ms);
  advance(170ms);
  EXPECT_EQ(other.line->count(Verb::renew), 1U);
  EXPECT_FALSE(seen("orders").holders.at(0).claimed);
  EXPECT_GT(waiting.result()->remaining(), 9s);
}

TEST_F(Wait, a_claim_is_confirmed_once_even_where_no_renewal_was_asked_for) {
  auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.ttl = 10s, .wait = 60s, .renew = false});
  value_of(lease.release());
  advance(5s);
  EXPECT_TRUE(waiting.result()->valid());
  EXPECT_EQ(other.line->count(Verb::renew), 1U);
  advance(10s);
  EXPECT_FALSE(waiting.result()->valid());
  EXPECT_TRUE(waiting.result()->lost().stop_requested());
  EXPECT_EQ(other.line->count(Verb::renew), 1U);
}

TEST_F(Wait, waiters_come_in_the_order_in_which_they_queued) {
  auto lease = std::make_optional(mine.take("orders"));
  std::vector<HandClient> clients;
  std::vector<Running<Result<Lease>>> waits;
  for (std::size_t i = 0; i < 10; ++i) {
    clients.push_back(another_client());
    waits.push_back(clients.back().acquire("orders", {.wait = 600s}));
    advance(1ms);
  }
  lease.reset();
  for (std::size_t i = 0; i < 10; ++i) {
    advance(1s);
    for (std::size_t j = i; j < 10; ++j) EXPECT_EQ(waits[j].done(), j == i) << i << " " << j;
    value_of(waits[i].result()->release());
    runtime->run();
  }
}

TEST_F(Wait, a_wait_that_ends_leaves_the_queue) {
  const auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.wait = 3s});
  advance(3s - 1us);
  EXPECT_FALSE(waiting.done());
  EXPECT_EQ(waiters("orders"), 1U);
  advance(1us);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
  EXPECT_EQ(waiters("orders"), 0U);
}

TEST_F(Wait, that_ends_while_the_store_does_not_answer_ends_at_its_own_time) {
  mine.line->pause();
  auto paused = mine.acquire("orders", {.wait = 1200ms});
  other.line->script(Verb::acquire, Fault::lose_request(), 10);
  auto lost = other.acquire("orders", {.wait = 1200ms});
  advance(1200ms - 1us);
  EXPECT_FALSE(paused.done());
  EXPECT_FALSE(lost.done());
  advance(1us);
  EXPECT_EQ(error_of(paused.result()), Errc::unavailable);
  EXPECT_EQ(error_of(lost.result()), Errc::outcome_unknown);
}

TEST_F(Wait, the_next_in_line_is_served_when_the_holder_dies) {
  mine.take("orders", {.ttl = 5s}).detach();
  auto waiting = other.acquire("orders", {.wait = 60s});
  advance(4999ms);
  EXPECT_FALSE(waiting.done());
  advance(2ms);
  EXPECT_TRUE(waiting.result().has_value()) << "asked again when the lease in the way had ended";
}

TEST_F(Wait, the_back_stop_asks_again_after_a_lost_message) {
  auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.ttl = 10s, .wait = 60s});
  other.line->lose_notices(1);
  value_of(lease.release());
  runtime->run();
  EXPECT_FALSE(waiting.done());
  advance(1200ms);
  EXPECT_TRUE(waiting.result().has_value());
  EXPECT_GT(waiting.result()->remaining(), 9s) << "its own question gives the full lease";
}

TEST_F(Wait, the_back_stop_asks_about_once_a_second_and_after_a_while_every_two) {
  const auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.wait = 100s});
  advance(6s);
  EXPECT_GE(other.line->count(Verb::acquire), 5U);
  EXPECT_LE(other.line->count(Verb::acquire), 9U);
  advance(54s);
  EXPECT_GE(other.line->count(Verb::acquire), 28U);
  EXPECT_LE(other.line->count(Verb::acquire), 44U);
  EXPECT_FALSE(waiting.done());
  advance(60s);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
}

TEST_F(Wait, a_waiter_that_was_dropped_returns_to_its_place) {
  auto lease = mine.take("orders");
  auto first = other.acquire("orders", {.ttl = 10s, .wait = 60s});
  auto third_party = another_client();
  auto second = third_party.acquire("orders", {.ttl = 10s, .wait = 60s});
  // The message is lost and the claim lapses, so the waiter is dropped; the next one gets the lock.
  other.line->lose_notices(1);
  other.line->script(Verb::acquire, Fault::refuse(), 6);
  value_of(lease.release());
  advance(1s);
  EXPECT_FALSE(first.done());
  auto late = another_client();
  auto third = late.acquire("orders", {.ttl = 10s, .wait = 60s});
  ASSERT_TRUE(second.done());
  advance(3s);
  ASSERT_EQ(waiters("orders"), 2U);
  value_of(second.result()->release());
  runtime->run();
  EXPECT_TRUE(first.done()) << "it stood before the third";
  EXPECT_FALSE(third.done());
  value_of(first.result()->release());
  runtime->run();
  EXPECT_TRUE(third.done());
}

TEST_F(Wait, readers_are_handed_the_lock_together) {
  auto writer = value_of(mine.api.read_write("page").acquire());
  auto lock = other.api.read_write("page");
  Running<Result<Lease>> one(lock.async_acquire_shared({.wait = 10s}));
  Running<Result<Lease>> two(lock.async_acquire_shared({.wait = 10s}));
  EXPECT_FALSE(one.done());
  value_of(writer.release());
  runtime->run();
  EXPECT_TRUE(one.result().has_value());
  EXPECT_TRUE(two.result().has_value());
}

TEST_F(Wait, a_barging_lock_tells_its_head_to_ask_and_grants_on_the_question) {
  auto lock = mine.api.mutex("orders", Order::barging);
  auto lease = value_of(lock.acquire());
  auto waiting_lock = other.api.mutex("orders", Order::barging);
  Running<Result<Lease>> waiting(waiting_lock.async_acquire({.wait = 10s}));
  const auto asked = other.line->count(Verb::acquire);
  value_of(lease.release());
  runtime->run();
  EXPECT_TRUE(waiting.result().has_value());
  EXPECT_EQ(other.line->count(Verb::acquire), asked + 1);
}

TEST_F(Wait, an_emptied_store_serves_those_who_still_wait) {
  auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.wait = 60s});
  store->empty();
  runtime->run();
  EXPECT_TRUE(waiting.result().has_value()) << "listening anew makes every waiter ask again";
  EXPECT_GT(waiting.result()->fence(), lease.fence());
}

}  // namespace
}  // namespace holdfast::test
