// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

TEST(StepReentrant, re_entry_is_granted_at_once_with_the_same_fence) {
  ModelLock lock(LockSpec::reentrant());
  const auto first = granted(lock.acquire({.owner = "anna", .request = 1}));
  const auto second = granted(lock.acquire({.owner = "anna", .request = 2}));
  EXPECT_EQ(second.fence, first.fence);
  EXPECT_EQ(lock.state.holds.size(), 2U);
  busy(lock.acquire({.owner = "ben"}));
}

TEST(StepReentrant, re_entry_does_not_wait_behind_a_queue) {
  ModelLock lock(LockSpec::reentrant());
  granted(lock.acquire({.owner = "anna", .request = 1}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  granted(lock.acquire({.owner = "anna", .request = 2}));
  EXPECT_EQ(waiters(lock), Owners{"ben"});
}

TEST(StepReentrant, it_is_free_only_when_every_hold_is_released) {
  ModelLock lock(LockSpec::reentrant());
  granted(lock.acquire({.owner = "anna", .request = 1}));
  granted(lock.acquire({.owner = "anna", .request = 2}));
  must_be<model::Released>(lock.release("anna", 1));
  busy(lock.acquire({.owner = "ben"}));
  must_be<model::Released>(lock.release("anna", 2));
  granted(lock.acquire({.owner = "ben"}));
}

TEST(StepReentrant, a_repeated_acquire_is_not_a_second_hold) {
  ModelLock lock(LockSpec::reentrant());
  granted(lock.acquire({.owner = "anna", .request = 1}));
  granted(lock.acquire({.owner = "anna", .request = 1}));
  EXPECT_EQ(lock.state.holds.size(), 1U);
  must_be<model::Released>(lock.release("anna", 1));
  granted(lock.acquire({.owner = "ben"}));
}

TEST(StepReentrant, a_repeated_release_does_not_count_down_twice) {
  ModelLock lock(LockSpec::reentrant());
  granted(lock.acquire({.owner = "anna", .request = 1}));
  granted(lock.acquire({.owner = "anna", .request = 2}));
  must_be<model::Released>(lock.release("anna", 2));
  EXPECT_NE(kind_of(lock.release("anna", 2)), "Released");
  EXPECT_EQ(lock.state.holds.size(), 1U);
  busy(lock.acquire({.owner = "ben"}));
}

TEST(StepReentrant, each_hold_has_a_lease_of_its_own) {
  ModelLock lock(LockSpec::reentrant());
  granted(lock.acquire({.owner = "anna", .request = 1, .ttl = 10s}));
  granted(lock.acquire({.owner = "anna", .request = 2, .ttl = 2s}));
  lock.pass(3s);
  must_be<model::NotOwner>(lock.renew("anna", 2));
  granted(lock.renew("anna", 1));
  EXPECT_EQ(lock.state.holds.size(), 1U);
}

TEST(StepReentrant, the_fence_stays_when_the_first_hold_ends_before_the_others) {
  ModelLock lock(LockSpec::reentrant());
  const auto first = granted(lock.acquire({.owner = "anna", .request = 1, .ttl = 1s}));
  granted(lock.acquire({.owner = "anna", .request = 2, .ttl = 10s}));
  lock.pass(2s);
  EXPECT_EQ(granted(lock.acquire({.owner = "anna", .request = 3})).fence, first.fence);
}

TEST(StepReentrant, the_fence_grows_when_it_was_free_in_between) {
  ModelLock lock(LockSpec::reentrant());
  const auto first = granted(lock.acquire({.owner = "anna", .request = 1}));
  lock.release("anna", 1);
  EXPECT_GT(granted(lock.acquire({.owner = "anna", .request = 2})).fence, first.fence);
}

TEST(StepReentrant, releasing_everything_of_an_owner_frees_it_at_once) {
  ModelLock lock(LockSpec::reentrant());
  granted(lock.acquire({.owner = "anna", .request = 1}));
  granted(lock.acquire({.owner = "anna", .request = 2}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  must_be<model::Released>(lock.release("anna", 0));
  EXPECT_EQ(holders(lock), Owners{"ben"});
}

TEST(StepReentrant, waits_of_one_owner_that_stand_together_are_handed_over_together) {
  ModelLock lock(LockSpec::reentrant());
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .request = 1, .wait = true}));
  queued(lock.acquire({.owner = "ben", .request = 2, .wait = true}));
  queued(lock.acquire({.owner = "cleo", .wait = true}));
  lock.release("anna");
  EXPECT_EQ(holders(lock), (Owners{"ben", "ben"}));
  EXPECT_EQ(lock.state.holds[0].fence, lock.state.holds[1].fence);
  EXPECT_EQ(waiters(lock), Owners{"cleo"});
}

}  // namespace
}  // namespace holdfast::test
