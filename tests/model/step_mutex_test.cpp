// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

TEST(StepMutex, a_free_lock_is_granted_for_the_whole_ttl) {
  ModelLock lock(LockSpec::mutex());
  const auto grant = granted(lock.acquire({.owner = "anna", .ttl = 30s}));
  EXPECT_GT(grant.fence, 0U);
  EXPECT_EQ(grant.remaining, 30s);
  EXPECT_TRUE(lock.messages.empty());
}

TEST(StepMutex, a_held_lock_is_busy_and_says_who_has_it_and_for_how_long) {
  ModelLock lock(LockSpec::mutex());
  const auto grant = granted(lock.acquire({.owner = "anna", .ttl = 30s, .note = "payroll"}));
  lock.pass(10s);
  const auto refusal = busy(lock.acquire({.owner = "ben"}));
  EXPECT_EQ(refusal.retry_after, 20s);
  EXPECT_EQ(refusal.holder_count, 1U);
  ASSERT_EQ(refusal.holders.size(), 1U);
  EXPECT_EQ(refusal.holders[0].fence, grant.fence);
  EXPECT_EQ(refusal.holders[0].remaining, 20s);
  EXPECT_EQ(refusal.holders[0].held_for, 10s);
  EXPECT_EQ(refusal.holders[0].metadata->note, "payroll");
  EXPECT_EQ(holders(lock), Owners{"anna"});
}

TEST(StepMutex, it_is_not_reentrant_for_another_request_of_the_same_owner) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .request = 1}));
  busy(lock.acquire({.owner = "anna", .request = 2}));
}

TEST(StepMutex, a_repeated_acquire_is_told_what_is_left_and_no_fresh_ttl) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna", .ttl = 10s}));
  lock.pass(4s);
  const auto again = granted(lock.acquire({.owner = "anna", .ttl = 10s}));
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_EQ(again.remaining, 6s);
  EXPECT_EQ(lock.state.holds.size(), 1U);
}

TEST(StepMutex, it_stays_held_to_the_last_microsecond_and_is_free_at_the_end) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .ttl = 10s}));
  lock.pass(10s - 1us);
  busy(lock.acquire({.owner = "ben"}));
  lock.pass(1us);
  granted(lock.acquire({.owner = "ben"}));
  EXPECT_EQ(holders(lock), Owners{"ben"});
}

TEST(StepMutex, an_acquire_repeated_after_the_lease_ended_is_a_new_grant_with_a_new_fence) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  lock.pass(2s);
  const auto second = granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  EXPECT_GT(second.fence, first.fence);
}

TEST(StepMutex, a_wait_on_a_free_lock_is_granted_at_once) {
  ModelLock lock(LockSpec::mutex());
  EXPECT_EQ(granted(lock.acquire({.owner = "anna", .ttl = 5s, .wait = true})).remaining, 5s);
  EXPECT_TRUE(lock.state.queue.empty());
}

TEST(StepMutex, two_owners_with_the_same_request_number_are_two_requests) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .request = 7}));
  busy(lock.acquire({.owner = "ben", .request = 7}));
  must_be<model::NotOwner>(lock.release("ben", 7));
  must_be<model::Released>(lock.release("anna", 7));
}

}  // namespace
}  // namespace holdfast::test
