// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

TEST(StepFifo, waiters_are_served_in_the_order_in_which_they_came) {
  ModelLock lock(LockSpec::mutex(Order::fifo));
  granted(lock.acquire({.owner = "anna"}));
  EXPECT_EQ(queued(lock.acquire({.owner = "ben", .wait = true})).ahead, 0U);
  EXPECT_EQ(queued(lock.acquire({.owner = "cleo", .wait = true})).ahead, 1U);
  EXPECT_EQ(queued(lock.acquire({.owner = "dora", .wait = true})).ahead, 2U);
  for (const auto* next : {"ben", "cleo", "dora"}) {
    const auto before = holders(lock).front();
    lock.release(before);
    EXPECT_EQ(holders(lock), Owners{next});
  }
}

TEST(StepFifo, automatic_order_is_fifo) {
  ModelLock lock(LockSpec::mutex(Order::automatic));
  granted(lock.acquire({.owner = "anna"}));
  EXPECT_EQ(lock.seen().order, Order::fifo);
}

TEST(StepFifo, places_grow_and_a_repeated_wait_keeps_its_place) {
  ModelLock lock(LockSpec::mutex(Order::fifo));
  granted(lock.acquire({.owner = "anna"}));
  const auto first = queued(lock.acquire({.owner = "ben", .wait = true}));
  const auto second = queued(lock.acquire({.owner = "cleo", .wait = true}));
  EXPECT_LT(first.place, second.place);
  EXPECT_EQ(queued(lock.acquire({.owner = "ben", .wait = true})).place, first.place);
  EXPECT_EQ(queued(lock.acquire({.owner = "ben", .wait = true})).ahead, 0U);
  EXPECT_EQ(lock.state.queue.size(), 2U);
}

TEST(StepFifo, queued_says_when_the_lease_in_the_way_ends) {
  ModelLock lock(LockSpec::mutex(Order::fifo));
  granted(lock.acquire({.owner = "anna", .ttl = 7s}));
  lock.pass(2s);
  EXPECT_EQ(queued(lock.acquire({.owner = "ben", .wait = true})).retry_after, 5s);
}

TEST(StepFifo, a_newcomer_that_tries_never_overtakes_a_queue) {
  ModelLock lock(LockSpec::mutex(Order::fifo));
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  lock.pass(1s);
  busy(lock.acquire({.owner = "cleo"}));
  EXPECT_EQ(holders(lock), Owners{"ben"});
}

TEST(StepFifo, a_newcomer_that_waits_never_overtakes_a_queue) {
  ModelLock lock(LockSpec::mutex(Order::fifo));
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  lock.pass(1s);
  queued(lock.acquire({.owner = "cleo", .wait = true}));
  EXPECT_EQ(told(lock), Owners{"ben+"});
  EXPECT_EQ(waiters(lock), Owners{"cleo"});
}

TEST(StepFifo, a_waiter_that_turns_to_trying_is_granted_when_it_stands_at_the_head) {
  ModelLock lock(LockSpec::mutex(Order::fifo));
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  queued(lock.acquire({.owner = "ben", .ttl = 10s, .wait = true}));
  lock.pass(1s);
  EXPECT_EQ(granted(lock.acquire({.owner = "ben", .ttl = 10s})).remaining, 10s);
}

TEST(StepBarging, a_newcomer_may_take_a_lock_that_came_free) {
  ModelLock lock(LockSpec::mutex(Order::barging));
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  lock.release("anna");
  granted(lock.acquire({.owner = "cleo"}));
  EXPECT_EQ(waiters(lock), Owners{"ben"});
}

TEST(StepBarging, nobody_is_granted_unasked_the_head_is_told_to_try) {
  ModelLock lock(LockSpec::mutex(Order::barging));
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .request = 9, .wait = true, .process = 4}));
  queued(lock.acquire({.owner = "cleo", .wait = true}));
  lock.release("anna");
  ASSERT_EQ(told(lock), Owners{"ben"});
  EXPECT_EQ(lock.messages[0].process, model::ProcessId{4});
  EXPECT_EQ(lock.messages[0].request, model::RequestId{9});
  EXPECT_TRUE(holders(lock).empty());
}

TEST(StepBarging, a_waiter_that_asks_again_is_granted_when_the_lock_is_free) {
  ModelLock lock(LockSpec::mutex(Order::barging));
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  queued(lock.acquire({.owner = "cleo", .wait = true}));
  lock.release("anna");
  EXPECT_EQ(granted(lock.acquire({.owner = "cleo", .ttl = 3s, .wait = true})).remaining, 3s);
  EXPECT_EQ(waiters(lock), Owners{"ben"});
}

TEST(StepBarging, the_head_is_told_once_per_step) {
  ModelLock lock(LockSpec::read_write(Order::barging));
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  lock.pass(1s);
  busy(lock.acquire({.owner = "cleo", .permits = 1}));
  EXPECT_EQ(told(lock), Owners{"ben"});
}

TEST(StepBarging, a_head_that_was_told_and_does_not_come_loses_its_turn) {
  ModelLock lock(LockSpec::mutex(Order::barging));
  granted(lock.acquire({.owner = "anna"}));
  const auto ben = queued(lock.acquire({.owner = "ben", .wait = true, .process = 2}));
  queued(lock.acquire({.owner = "bert", .request = 2, .wait = true, .process = 2}));
  queued(lock.acquire({.owner = "cleo", .wait = true, .process = 3}));
  lock.release("anna");
  ASSERT_EQ(told(lock), Owners{"ben"});
  lock.pass(499ms);
  lock.renew("nobody");
  EXPECT_EQ(told(lock), Owners{"ben"}) << "it may still come, and may not have heard it";
  lock.pass(1ms);
  lock.renew("nobody");
  EXPECT_EQ(told(lock), Owners{"cleo"});
  EXPECT_EQ(waiters(lock), Owners{"cleo"}) << "with all that its process waits for";
  granted(lock.acquire({.owner = "dora"}));
  const auto again =
      queued(lock.acquire({.owner = "ben", .wait = true, .place = ben.place, .process = 2}));
  EXPECT_EQ(again.place, ben.place) << "but keeps its place";
}

TEST(StepBarging, a_head_that_came_in_time_is_told_anew_when_somebody_was_quicker) {
  ModelLock lock(LockSpec::mutex(Order::barging));
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true, .process = 2}));
  lock.release("anna");
  lock.pass(300ms);
  granted(lock.acquire({.owner = "dora"}));
  queued(lock.acquire({.owner = "ben", .wait = true, .process = 2}));
  lock.pass(5s);
  lock.release("dora");
  EXPECT_EQ(told(lock), Owners{"ben"});
  EXPECT_EQ(waiters(lock), Owners{"ben"});
}

TEST(StepBarging, a_stopped_writer_does_not_keep_readers_out) {
  ModelLock lock(LockSpec::read_write(Order::barging));
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "writer", .wait = true, .process = 2}));
  lock.release("anna");
  queued(lock.acquire({.owner = "reader", .permits = 1, .wait = true, .process = 3}));
  lock.pass(500ms);
  granted(lock.acquire({.owner = "reader", .permits = 1, .wait = true, .process = 3}));
  granted(lock.acquire({.owner = "another", .permits = 1}));
}

TEST(StepBarging, a_head_that_cannot_be_reached_is_passed_over) {
  ModelLock lock(LockSpec::mutex(Order::barging));
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true, .process = 2}));
  queued(lock.acquire({.owner = "cleo", .wait = true, .process = 3}));
  lock.cut_off = {2};
  lock.release("anna");
  EXPECT_EQ(told(lock), Owners{"cleo"});
  EXPECT_EQ(waiters(lock), Owners{"cleo"});
}

}  // namespace
}  // namespace holdfast::test
