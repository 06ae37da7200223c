// SPDX-License-Identifier: Apache-2.0
//
// A lock that is taken for a caller who is somewhere else: the claim of a hand-over becomes a lease
// before the caller hears of it.
#include "client/take.hpp"

#include "client/hand_client.hpp"
#include "client/message_store.hpp"

namespace holdfast::test {
namespace {

class TakeWaiting : public testing::Test {
 public:
  void TearDown() override {
    runtime->advance(61s);
    if (holder) holder->detach();
    EXPECT_TRUE(runtime->settle());
  }

  Running<client::TakeResult> take(Micros wait) const {
    client::Wanted wanted{.name = LockName::make("orders").value(),
                          .spec = model::LockSpec::mutex(),
                          .owner = waiter.core->fresh_owner(),
                          .request = waiter.core->fresh_request(),
                          .ttl = 10s,
                          .wait = wait};
    Running<client::TakeResult> taking(client::take_waiting(waiter.core, std::move(wanted), {}));
    runtime->run();
    return taking;
  }
  // The holder leaves, and the waiter is told.
  void hand_over() {
    runtime->advance(100ms);
    value_of(holder->release());
    ASSERT_EQ(store->messages.size(), 1U);
    store->deliver(store->messages.at(0));
    runtime->run();
  }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::shared_ptr<MessageStore> store = MessageStore::make(runtime);
  std::shared_ptr<FaultStore> line = FaultStore::over(runtime, [this] { return store; });
  HandClient waiter{line, runtime};
  HandClient first{line->another_line(), runtime};
  std::optional<Lease> holder = first.take("orders");
};

TEST_F(TakeWaiting, a_claim_becomes_a_lease_before_the_caller_hears_of_it) {
  auto taking = take(60s);
  hand_over();
  ASSERT_TRUE(taking.done());
  ASSERT_TRUE(taking.result());
  EXPECT_EQ(taking.result()->remaining, 10s);
}

TEST_F(TakeWaiting, a_turn_whose_confirmation_is_answered_too_late_is_asked_for_again) {
  auto taking = take(60s);
  line->script(Verb::renew, Fault::lose_reply());
  hand_over();
  EXPECT_FALSE(taking.done());
  runtime->advance(client::command_timeout + 50ms);
  ASSERT_TRUE(taking.done());
  ASSERT_TRUE(taking.result()) << taking.result().error().error.message;
  EXPECT_GT(taking.result()->remaining, 9s);
}

TEST_F(TakeWaiting, a_turn_whose_confirmation_was_lost_is_asked_for_again) {
  auto taking = take(60s);
  line->script(Verb::renew, Fault::lose_request());
  line->script(Verb::acquire, Fault::refuse(), 2);
  hand_over();
  runtime->advance(client::command_timeout + 200ms);
  ASSERT_TRUE(taking.done());
  ASSERT_TRUE(taking.result()) << taking.result().error().error.message;
  EXPECT_GT(taking.result()->remaining, 9s);
}

TEST_F(TakeWaiting, a_wait_that_ends_before_the_store_answers_leaves_nothing_behind) {
  auto taking = take(300ms);
  line->script(Verb::renew, Fault::lose_reply());
  line->script(Verb::acquire, Fault::refuse(), 1000);
  hand_over();
  runtime->advance(3s);
  ASSERT_TRUE(taking.done());
  EXPECT_FALSE(taking.result());
  EXPECT_TRUE(store->state.holds.empty());
}

}  // namespace
}  // namespace holdfast::test
