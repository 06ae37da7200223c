// SPDX-License-Identifier: Apache-2.0
//
// A grant that comes by message: when it may be used at once, and when not.
#include "client/hand_client.hpp"
#include "client/message_store.hpp"

namespace holdfast::test {
namespace {

class GrantMessage : public testing::Test {
 public:
  void TearDown() override {
    first.line->resume();
    runtime->advance(61s);
    if (waiting.done() && waiting.result()) waiting.result()->detach();
    if (holder) holder->detach();
    EXPECT_TRUE(runtime->settle());
  }

  // Somebody else holds the lock, and leaves.
  void let_the_holder_leave() {
    value_of(holder->release());
    ASSERT_EQ(store->messages.size(), 1U);
  }
  model::Message message() const { return store->messages.at(0); }
  unsigned asked() const { return line->count(Verb::acquire); }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  // Another clock than ours: nothing may depend on their difference.
  std::shared_ptr<OtherClock> clock = std::make_shared<OtherClock>(runtime, 77h, 0);
  std::shared_ptr<MessageStore> store = MessageStore::make(clock);
  std::shared_ptr<FaultStore> line = FaultStore::over(runtime, [this] { return store; });
  HandClient waiter{line, runtime};
  HandClient first{line->another_line(), runtime};
  std::optional<Lease> holder = first.take("orders");
  Running<Result<Lease>> waiting = waiter.acquire("orders", {.ttl = 10s, .wait = 60s});
};

TEST_F(GrantMessage, is_used_at_once_when_a_clock_pair_exists_and_the_claim_is_fresh) {
  runtime->advance(100ms);
  let_the_holder_leave();
  store->deliver(message());
  runtime->run();
  ASSERT_TRUE(waiting.done());
  EXPECT_EQ(asked(), 1U);
  EXPECT_LE(waiting.result()->remaining(), 500ms);
  EXPECT_GE(waiting.result()->remaining(), 250ms);
}

TEST_F(GrantMessage, is_asked_about_when_less_than_half_of_the_claim_is_left) {
  runtime->advance(100ms);
  let_the_holder_leave();
  runtime->advance(300ms);
  store->deliver(message());
  runtime->run();
  ASSERT_TRUE(waiting.done());
  EXPECT_EQ(asked(), 2U) << "the question confirms it";
  EXPECT_GT(waiting.result()->remaining(), 9s);
}

TEST_F(GrantMessage, never_says_more_than_the_store_will_keep) {
  // 240 ms late: just still usable. The claim ends in the store 500 ms after it was made.
  runtime->advance(100ms);
  const auto granted_at = runtime->now();
  let_the_holder_leave();
  runtime->advance(240ms);
  store->deliver(message());
  runtime->run();
  ASSERT_TRUE(waiting.done());
  EXPECT_EQ(asked(), 1U);
  EXPECT_LT(runtime->now() + waiting.result()->remaining(), granted_at + 500ms);
}

TEST_F(GrantMessage, that_overtakes_the_reply_is_not_used_without_a_clock_pair) {
  // The second waiter's question is answered late, so it knows nothing of the store's clock.
  auto late_line = line->another_line();
  HandClient late{late_line, runtime};
  late_line->script(Verb::acquire, Fault::lose_reply());
  auto late_wait = late.acquire("orders", {.ttl = 10s, .wait = 60s});
  let_the_holder_leave();
  store->deliver(message());
  runtime->run();
  ASSERT_TRUE(waiting.done());
  value_of(waiting.result()->release());
  ASSERT_EQ(store->messages.size(), 2U);
  store->deliver(store->messages.at(1));
  runtime->run();
  EXPECT_FALSE(late_wait.done());
  runtime->advance(client::command_timeout + 20ms);
  ASSERT_TRUE(late_wait.done());
  EXPECT_EQ(late_line->count(Verb::acquire), 2U) << "it asked before it started";
  EXPECT_GT(late_wait.result()->remaining(), 9s);
}

TEST_F(GrantMessage, of_an_earlier_claim_that_lapsed_is_not_believed) {
  runtime->advance(10ms);
  let_the_holder_leave();
  const auto old = message();
  // The claim lapses, somebody else takes the lock, and the waiter queues again.
  line->script(Verb::acquire, Fault::refuse(), 3);
  runtime->advance(501ms);
  auto thief = first.take("orders");
  runtime->advance(2s);
  ASSERT_FALSE(waiting.done());
  store->deliver(old);
  runtime->run();
  EXPECT_FALSE(waiting.done());
  EXPECT_TRUE(thief.valid());
}

TEST_F(GrantMessage, delivered_twice_gives_one_lease) {
  let_the_holder_leave();
  store->deliver(message());
  store->deliver(message());
  runtime->run();
  ASSERT_TRUE(waiting.result().has_value());
  runtime->advance(5s);
  EXPECT_TRUE(waiting.result()->valid());
  EXPECT_EQ(store->given_back, 0U);
}

TEST_F(GrantMessage, for_a_wait_that_was_cancelled_is_given_back) {
  std::stop_source stop;
  auto second = first.acquire("orders", {.ttl = 10s, .wait = 60s}, stop.get_token());
  let_the_holder_leave();
  store->deliver(message());
  runtime->run();
  value_of(waiting.result()->release());
  ASSERT_EQ(store->messages.size(), 2U);
  // The grant is on its way while the caller gives up, and while its release cannot get through.
  first.line->pause();
  stop.request_stop();
  runtime->advance(100ms);
  EXPECT_EQ(error_of(second.result()), Errc::cancelled);
  ASSERT_EQ(store->state.holds.size(), 1U);
  store->deliver(store->messages.at(1));
  runtime->run();
  EXPECT_EQ(store->given_back, 1U);
  EXPECT_TRUE(store->state.idle());
}

// The waiter learned by its own question that it holds the lock; the message that says the same
// comes later. Nobody listens for it any more, but it is not unwanted.
TEST_F(GrantMessage, that_comes_after_the_lease_was_had_by_a_question_does_not_take_it_away) {
  let_the_holder_leave();
  runtime->advance(1500ms);
  ASSERT_TRUE(waiting.result().has_value()) << "by the back-stop";
  store->deliver(message());
  runtime->advance(10ms);
  ASSERT_EQ(store->state.holds.size(), 1U) << "a live lease was given back behind its holder";
  EXPECT_TRUE(waiting.result()->valid());
}

TEST_F(GrantMessage, that_comes_after_the_lease_was_detached_does_not_take_it_away) {
  let_the_holder_leave();
  runtime->advance(1500ms);
  waiting.result()->detach();
  store->deliver(message());
  runtime->advance(10ms);
  EXPECT_EQ(store->state.holds.size(), 1U);
}

TEST_F(GrantMessage, that_comes_after_the_lease_was_lost_is_given_back) {
  let_the_holder_leave();
  runtime->advance(1500ms);
  ASSERT_TRUE(waiting.result().has_value()) << "by the back-stop";
  store->state = {};
  runtime->advance(10s);
  ASSERT_FALSE(waiting.result()->valid());
  store->deliver(message());
  runtime->run();
  EXPECT_EQ(store->given_back, 1U);
}

TEST_F(GrantMessage, that_comes_after_the_release_changes_nothing) {
  let_the_holder_leave();
  runtime->advance(1500ms);
  value_of(waiting.result()->release());
  store->deliver(message());
  auto next = first.take("orders");
  runtime->advance(5s);
  EXPECT_FALSE(waiting.result()->valid());
  EXPECT_TRUE(next.valid());
  EXPECT_EQ(line->count(Verb::renew), 0U);
}

}  // namespace
}  // namespace holdfast::test
