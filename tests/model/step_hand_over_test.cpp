// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

// "anna" holds, and "ben", "cleo" and "dora" wait, each in a process of its own: 2, 3 and 4.
class StepHandOver : public testing::Test {
 protected:
  StepHandOver() {
    granted(lock.acquire({.owner = "anna", .process = 1}));
    ben = queued(lock.acquire(waiter("ben", 2))).place;
    cleo = queued(lock.acquire(waiter("cleo", 3))).place;
    dora = queued(lock.acquire(waiter("dora", 4))).place;
  }
  static Ask waiter(std::string_view owner, std::uint64_t process, std::uint64_t place = 0) {
    return {.owner = owner, .ttl = 30s, .wait = true, .place = place, .process = process};
  }

  ModelLock lock{LockSpec::mutex()};
  std::uint64_t ben = 0;
  std::uint64_t cleo = 0;
  std::uint64_t dora = 0;
};

TEST_F(StepHandOver, the_head_gets_a_claim_and_a_message_with_everything_it_needs) {
  lock.pass(1s);
  must_be<model::Released>(lock.release("anna"));
  ASSERT_EQ(lock.messages.size(), 1U);
  const auto& message = lock.messages[0];
  EXPECT_EQ(message.process, model::ProcessId{2});
  EXPECT_EQ(message.owner, owner_named("ben"));
  EXPECT_EQ(message.request, model::RequestId{1});
  ASSERT_TRUE(message.grant.has_value());
  EXPECT_EQ(message.grant->at, lock.now);
  EXPECT_EQ(message.grant->lease, 500ms);
  const auto& hold = lock.state.holds.at(0);
  EXPECT_EQ(message.grant->fence, hold.fence);
  EXPECT_EQ(hold.expires, lock.now + 500ms);
  EXPECT_TRUE(hold.claimed);
  EXPECT_EQ(waiters(lock), (Owners{"cleo", "dora"}));
}

TEST(StepClaim, it_is_never_longer_than_the_ttl_that_was_asked_for) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .ttl = 100ms, .wait = true}));
  lock.release("anna");
  EXPECT_EQ(lock.messages.at(0).grant->lease, 100ms);
}

TEST(StepClaim, a_waiter_far_away_may_ask_for_a_longer_one) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .ttl = 30s, .wait = true, .claim = 2s}));
  lock.release("anna");
  EXPECT_EQ(lock.messages.at(0).grant->lease, 2s);
}

TEST_F(StepHandOver, the_first_renewal_confirms_the_claim_and_gives_the_full_ttl) {
  lock.release("anna");
  const auto fence = lock.messages.at(0).grant->fence;
  lock.pass(100ms);
  const auto confirmed = granted(lock.renew("ben", 1, 30s));
  EXPECT_EQ(confirmed.fence, fence);
  EXPECT_EQ(confirmed.remaining, 30s);
  EXPECT_FALSE(lock.state.holds[0].claimed);
}

TEST_F(StepHandOver, a_claimed_waiter_that_asks_again_confirms_too) {
  lock.release("anna");
  const auto fence = lock.messages.at(0).grant->fence;
  lock.pass(100ms);
  const auto confirmed = granted(lock.acquire(waiter("ben", 2, ben)));
  EXPECT_EQ(confirmed.fence, fence);
  EXPECT_EQ(confirmed.remaining, 30s);
  EXPECT_FALSE(lock.state.holds[0].claimed);
  EXPECT_EQ(lock.state.holds.size(), 1U);
}

TEST_F(StepHandOver, releasing_a_claim_passes_the_lock_on) {
  lock.release("anna");
  must_be<model::Released>(lock.release("ben"));
  EXPECT_EQ(told(lock), Owners{"cleo+"});
}

TEST_F(StepHandOver, a_waiter_that_gave_up_is_not_served) {
  must_be<model::Released>(lock.release("ben"));
  lock.release("anna");
  EXPECT_EQ(told(lock), Owners{"cleo+"});
}

TEST_F(StepHandOver, a_process_that_cannot_be_reached_is_dropped_with_all_its_waiters) {
  queued(lock.acquire(waiter("bert", 2)));
  lock.cut_off = {2};
  lock.release("anna");
  EXPECT_EQ(told(lock), Owners{"cleo+"});
  EXPECT_EQ(waiters(lock), Owners{"dora"});
}

TEST_F(StepHandOver, if_nobody_can_be_reached_the_lock_is_free) {
  lock.cut_off = {2, 3, 4};
  lock.release("anna");
  EXPECT_TRUE(lock.state.idle());
  granted(lock.acquire({.owner = "emil"}));
}

TEST_F(StepHandOver, reachability_matters_only_when_it_is_their_turn) {
  lock.cut_off = {2};
  granted(lock.renew("anna"));
  EXPECT_EQ(waiters(lock), (Owners{"ben", "cleo", "dora"}));
  lock.cut_off = {};
  lock.release("anna");
  EXPECT_EQ(told(lock), Owners{"ben+"});
}

TEST_F(StepHandOver, a_claim_that_lapsed_drops_the_waiters_of_that_process_and_serves_the_next) {
  queued(lock.acquire(waiter("bert", 2)));
  lock.release("anna");
  lock.pass(500ms);
  queued(lock.acquire(waiter("dora", 4, dora)));
  EXPECT_EQ(told(lock), Owners{"cleo+"});
  EXPECT_EQ(waiters(lock), Owners{"dora"});
}

TEST_F(StepHandOver, a_confirmed_lease_that_lapsed_drops_nobody) {
  queued(lock.acquire(waiter("bert", 2)));
  lock.release("anna");
  granted(lock.renew("ben", 1, 1s));
  lock.pass(1s);
  queued(lock.acquire(waiter("dora", 4, dora)));
  EXPECT_EQ(waiters(lock), (Owners{"dora", "bert"}));
}

TEST_F(StepHandOver, a_dropped_waiter_that_returns_gets_its_old_place) {
  lock.cut_off = {2};
  lock.release("anna");
  EXPECT_EQ(holders(lock), Owners{"cleo"});
  const auto back = queued(lock.acquire(waiter("ben", 2, ben)));
  EXPECT_EQ(back.place, ben);
  EXPECT_EQ(back.ahead, 0U);
  EXPECT_EQ(waiters(lock), (Owners{"ben", "dora"}));
}

TEST_F(StepHandOver, a_place_that_was_never_given_out_is_not_believed) {
  const auto far = queued(lock.acquire(waiter("emil", 5, UINT64_MAX)));
  EXPECT_LT(far.place, UINT64_MAX);
  EXPECT_EQ(far.ahead, 3U);
}

TEST_F(StepHandOver, a_place_that_somebody_stands_in_is_not_shared) {
  const auto outcome = queued(lock.acquire(waiter("emil", 5, ben)));
  EXPECT_NE(outcome.place, ben);
  EXPECT_EQ(outcome.ahead, 3U);
}

TEST_F(StepHandOver, a_try_that_meets_a_free_lock_hands_over_before_it_answers_busy) {
  lock.pass(10s - 1us);
  queued(lock.acquire(waiter("dora", 4, dora)));
  lock.pass(1us);
  const auto answer = busy(lock.acquire({.owner = "emil", .process = 5}));
  EXPECT_EQ(told(lock), Owners{"ben+"});
  EXPECT_EQ(answer.holder_count, 1U);
  EXPECT_EQ(answer.retry_after, 500ms);
}

TEST_F(StepHandOver, a_try_takes_the_lock_when_every_waiter_turns_out_to_be_gone) {
  lock.pass(9s);
  queued(lock.acquire(waiter("dora", 4, dora)));
  lock.pass(1s);
  lock.cut_off = {2, 3, 4};
  granted(lock.acquire({.owner = "emil", .process = 5}));
  EXPECT_TRUE(lock.state.queue.empty());
}

TEST_F(StepHandOver, a_foreign_renewal_hands_over_a_lock_that_came_free) {
  lock.pass(9s);
  queued(lock.acquire(waiter("dora", 4, dora)));
  lock.pass(1s);
  must_be<model::NotHeld>(lock.renew("anna"));
  EXPECT_EQ(told(lock), Owners{"ben+"});
}

TEST_F(StepHandOver, a_waiter_at_the_head_is_granted_the_full_ttl_when_the_holder_expires) {
  lock.pass(9s);
  queued(lock.acquire(waiter("ben", 2, ben)));
  lock.pass(1s);
  const auto grant = granted(lock.acquire(waiter("ben", 2, ben)));
  EXPECT_EQ(grant.remaining, 30s);
  EXPECT_FALSE(lock.state.holds[0].claimed);
  EXPECT_TRUE(lock.messages.empty());
}

TEST_F(StepHandOver, a_caller_is_reachable_by_definition) {
  lock.pass(9s);
  queued(lock.acquire(waiter("ben", 2, ben)));
  lock.pass(1s);
  lock.cut_off = {2};
  granted(lock.acquire(waiter("ben", 2, ben)));
}

TEST_F(StepHandOver, the_second_waiter_that_asks_first_hands_the_lock_to_the_head) {
  lock.pass(9s);
  queued(lock.acquire(waiter("cleo", 3, cleo)));
  lock.pass(1s);
  EXPECT_EQ(queued(lock.acquire(waiter("cleo", 3, cleo))).ahead, 0U);
  EXPECT_EQ(told(lock), Owners{"ben+"});
}

TEST_F(StepHandOver, a_queue_that_nobody_asked_about_is_forgotten) {
  granted(lock.renew("anna", 1, 60s));
  lock.pass(model::limits::queue_ttl);
  must_be<model::Released>(lock.release("anna"));
  EXPECT_TRUE(lock.messages.empty());
  EXPECT_TRUE(lock.state.idle());
}

TEST_F(StepHandOver, one_check_keeps_the_whole_queue) {
  granted(lock.renew("anna", 1, 60s));
  lock.pass(model::limits::queue_ttl - 1us);
  queued(lock.acquire(waiter("dora", 4, dora)));
  lock.pass(model::limits::queue_ttl - 1us);
  lock.release("anna");
  EXPECT_EQ(told(lock), Owners{"ben+"});
}

TEST_F(StepHandOver, a_waiter_of_a_forgotten_queue_returns_to_its_place) {
  granted(lock.renew("anna", 1, 60s));
  lock.pass(11s);
  EXPECT_EQ(queued(lock.acquire(waiter("cleo", 3, cleo))).place, cleo);
  EXPECT_EQ(queued(lock.acquire(waiter("ben", 2, ben))).ahead, 0U);
}

}  // namespace
}  // namespace holdfast::test
