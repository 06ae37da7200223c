// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

TEST(StepView, it_shows_holders_and_waiters_with_their_times_and_words) {
  ModelLock lock(LockSpec::semaphore(2));
  const auto grant = granted(lock.acquire({.owner = "anna", .permits = 2, .note = "nightly"}));
  lock.pass(1s);
  queued(lock.acquire({.owner = "ben", .wait = true, .note = "hourly"}));
  lock.pass(2s);
  const auto seen = lock.seen();
  EXPECT_EQ(seen.name, "lock");
  EXPECT_EQ(seen.kind, Kind::semaphore);
  EXPECT_EQ(seen.capacity, 2U);
  ASSERT_EQ(seen.holders.size(), 1U);
  EXPECT_EQ(seen.holders[0].fence, grant.fence);
  EXPECT_EQ(seen.holders[0].permits, 2U);
  EXPECT_FALSE(seen.holders[0].claimed);
  EXPECT_EQ(seen.holders[0].remaining, 7s);
  EXPECT_EQ(seen.holders[0].held_for, 3s);
  EXPECT_EQ(seen.holders[0].metadata->note, "nightly");
  ASSERT_EQ(seen.waiters.size(), 1U);
  EXPECT_EQ(seen.waiters[0].waiting_for, 2s);
  EXPECT_EQ(seen.waiters[0].metadata->note, "hourly");
}

TEST(StepView, a_claim_is_marked_and_carries_what_the_waiter_said_of_itself) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true, .note = "hourly"}));
  lock.release("anna");
  const auto seen = lock.seen();
  ASSERT_EQ(seen.holders.size(), 1U);
  EXPECT_TRUE(seen.holders[0].claimed);
  EXPECT_EQ(seen.holders[0].metadata->note, "hourly");
}

TEST(StepView, what_has_ended_is_left_out) {
  ModelLock lock(LockSpec::semaphore(2));
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  granted(lock.acquire({.owner = "ben", .ttl = 30s}));
  queued(lock.acquire({.owner = "cleo", .permits = 2, .wait = true}));
  lock.pass(20s);
  EXPECT_EQ(lock.seen().holders.size(), 1U);
  EXPECT_TRUE(lock.seen().waiters.empty());
}

TEST(StepInspect, looking_changes_nothing) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  lock.pass(2s);
  const auto seen = must_be<model::Seen>(lock.inspect());
  EXPECT_TRUE(seen.lock.holders.empty());
  EXPECT_EQ(seen.lock.waiters.size(), 1U);
  EXPECT_EQ(lock.state.holds.size(), 1U);
  EXPECT_TRUE(lock.messages.empty());
}

TEST(StepInspect, with_an_owner_it_says_what_that_owner_holds) {
  ModelLock lock(LockSpec::semaphore(3));
  granted(lock.acquire({.owner = "anna", .request = 1}));
  const auto newest = granted(lock.acquire({.owner = "anna", .request = 2, .ttl = 5s}));
  granted(lock.acquire({.owner = "ben"}));
  lock.pass(1s);
  const auto seen = must_be<model::Seen>(lock.inspect("anna"));
  ASSERT_TRUE(seen.mine.has_value());
  EXPECT_EQ(seen.mine->fence, newest.fence);
  EXPECT_EQ(seen.mine->remaining, 4s);
  EXPECT_FALSE(must_be<model::Seen>(lock.inspect("cleo")).mine.has_value());
  EXPECT_FALSE(must_be<model::Seen>(lock.inspect()).mine.has_value());
}

TEST(StepGranted, it_says_how_long_ago_the_lease_began) {
  ModelLock lock(LockSpec::mutex());
  EXPECT_EQ(granted(lock.acquire({.owner = "anna"})).held_for, 0s);
  lock.pass(2s);
  EXPECT_EQ(granted(lock.acquire({.owner = "anna"})).held_for, 2s) << "a repeated request";
  lock.pass(1s);
  EXPECT_EQ(granted(lock.renew("anna")).held_for, 3s);
  EXPECT_EQ(must_be<model::Seen>(lock.inspect("anna")).mine->held_for, 3s);
  queued(lock.acquire({.owner = "ben", .wait = true}));
  lock.pass(1s);
  lock.release("anna");
  lock.pass(100ms);
  EXPECT_EQ(granted(lock.renew("ben")).held_for, 100ms) << "since it was handed over";
}

TEST(StepForgettable, a_state_may_go_when_nobody_holds_or_waits_any_more) {
  ModelLock lock(LockSpec::mutex());
  EXPECT_TRUE(model::forgettable(lock.state, lock.now));
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  EXPECT_FALSE(model::forgettable(lock.state, lock.now));
  EXPECT_TRUE(model::forgettable(lock.state, lock.now + 1s));
}

TEST(StepForgettable, a_live_queue_is_kept_although_every_lease_ended) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  EXPECT_FALSE(model::forgettable(lock.state, lock.now + 1s));
  EXPECT_TRUE(model::forgettable(lock.state, lock.now + model::limits::queue_ttl));
}

}  // namespace
}  // namespace holdfast::test
