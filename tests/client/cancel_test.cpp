// SPDX-License-Identifier: Apache-2.0
//
// A cancelled wait ends soon and leaves nothing behind, wherever it was.
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class Cancel : public ClientTest {
 public:
  // Nothing of the cancelled wait is left, and nobody else is kept from the lock.
  void expect_nothing_left() {
    mine.line->resume();
    advance(5s);
    EXPECT_TRUE(is_free("orders"));
    EXPECT_TRUE(other.acquire("orders").result().has_value());
  }
  Running<Result<Lease>> start(Duration wait = 60s) {
    return mine.acquire("orders", {.ttl = 4s, .wait = wait}, stop.get_token());
  }

  std::stop_source stop;
};

TEST_F(Cancel, before_the_start_asks_nothing) {
  stop.request_stop();
  auto acquiring = start();
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
  EXPECT_EQ(mine.line->history().size(), 0U);
  expect_nothing_left();
}

TEST_F(Cancel, while_queued_leaves_the_queue_at_once) {
  auto lease = std::make_optional(other.take("orders"));
  auto acquiring = start();
  EXPECT_EQ(waiters("orders"), 1U);
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
  EXPECT_EQ(waiters("orders"), 0U);
  lease.reset();
  expect_nothing_left();
}

TEST_F(Cancel, while_pausing_between_two_questions_ends_the_pause) {
  auto lease = std::make_optional(other.take("orders"));
  auto acquiring =
      mine.acquire("orders", {.ttl = 4s, .wait = 60s, .retry = true}, stop.get_token());
  advance(5s);
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
  lease.reset();
  expect_nothing_left();
}

TEST_F(Cancel, while_the_grant_is_on_its_way_gives_it_back) {
  auto lease = other.take("orders");
  auto acquiring = start();
  mine.line->delay_notices(200ms);
  value_of(lease.release());
  advance(100ms);
  ASSERT_EQ(holders("orders"), 1U) << "the store has handed over already";
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
  EXPECT_TRUE(is_free("orders"));
  expect_nothing_left();
}

TEST_F(Cancel, in_the_moment_of_the_hand_over_gives_the_lease_or_nothing) {
  auto lease = other.take("orders");
  auto acquiring = start();
  stop.request_stop();
  value_of(lease.release());
  runtime->run();
  ASSERT_TRUE(acquiring.done());
  if (acquiring.result()) {
    EXPECT_TRUE(acquiring.result()->valid());
    value_of(acquiring.result()->release());
  }
  expect_nothing_left();
}

TEST_F(Cancel, while_the_question_is_on_its_way_takes_back_what_it_may_have_got) {
  mine.line->script(Verb::acquire, Fault::lose_reply());
  auto acquiring = start();
  advance(100ms);
  ASSERT_EQ(holders("orders"), 1U);
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
  EXPECT_TRUE(is_free("orders"));
  expect_nothing_left();
}

TEST_F(Cancel, of_a_try_whose_answer_is_lost_is_cancelled_and_cleaned_up) {
  mine.line->script(Verb::acquire, Fault::lose_reply());
  auto acquiring = start(0s);
  advance(100ms);
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
  EXPECT_TRUE(is_free("orders"));
}

TEST_F(Cancel, after_a_lost_answer_and_before_the_next_question_takes_it_back) {
  mine.line->script(Verb::acquire, Fault::lose_reply());
  mine.line->script(Verb::acquire, Fault::refuse(), 5);
  auto acquiring = start();
  advance(client::command_timeout + 5ms);
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
  EXPECT_TRUE(is_free("orders"));
}

TEST_F(Cancel, returns_within_100_milliseconds_while_the_store_is_paused) {
  auto lease = std::make_optional(other.take("orders"));
  auto acquiring = start();
  mine.line->pause();
  advance(3s);
  stop.request_stop();
  advance(100ms);
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
  EXPECT_EQ(waiters("orders"), 1U) << "the store could not be told yet";
  mine.line->resume();
  advance(1s);
  EXPECT_EQ(waiters("orders"), 0U);
  lease.reset();
  expect_nothing_left();
}

TEST_F(Cancel, of_a_first_question_to_a_paused_store_has_nothing_to_clean_up) {
  mine.line->pause();
  auto acquiring = start();
  advance(50ms);
  stop.request_stop();
  advance(100ms);
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
  EXPECT_EQ(mine.line->count(Verb::release), 0U);
  expect_nothing_left();
}

TEST_F(Cancel, a_grant_that_arrives_after_the_cancel_is_orphaned_for_its_ttl_at_most) {
  // The store was stopped with our question in its buffer, and does it when it goes on.
  mine.line->script(Verb::acquire, Fault::delay_request(2s));
  auto acquiring = start();
  advance(100ms);
  stop.request_stop();
  advance(100ms);
  EXPECT_EQ(error_of(acquiring.result()), Errc::cancelled);
  advance(2s);
  EXPECT_EQ(holders("orders"), 1U);
  advance(4s);
  expect_nothing_left();
}

// Every way a wait can stand in the store, cut off at every millisecond of it.
TEST_F(Cancel, at_any_moment_of_a_troubled_wait_leaves_nothing) {
  for (auto cut = 0ms; cut < 2400ms; cut += 7ms) {
    auto client = another_client();
    client.line->script(Verb::acquire, Fault::lose_reply());
    client.line->script(Verb::acquire, Fault::delay_reply(90ms), 2);
    client.line->delay_notices(30ms);
    auto lease = std::make_optional(other.take("orders"));
    std::stop_source source;
    auto acquiring = client.acquire("orders", {.ttl = 4s, .wait = 60s}, source.get_token());
    const auto holder_leaves = std::min(cut, 1300ms);
    advance(holder_leaves);
    lease.reset();
    advance(cut - holder_leaves);
    source.request_stop();
    advance(100ms);
    ASSERT_TRUE(acquiring.done()) << cut.count();
    if (acquiring.result()) value_of(acquiring.result()->release());
    ASSERT_TRUE(is_free("orders")) << cut.count();
  }
}

}  // namespace
}  // namespace holdfast::test
