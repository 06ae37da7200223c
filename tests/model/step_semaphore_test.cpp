// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

TEST(StepSemaphore, it_gives_out_n_permits_and_no_more) {
  ModelLock lock(LockSpec::semaphore(3));
  granted(lock.acquire({.owner = "anna"}));
  granted(lock.acquire({.owner = "ben"}));
  granted(lock.acquire({.owner = "cleo"}));
  EXPECT_EQ(busy(lock.acquire({.owner = "dora"})).holder_count, 3U);
  lock.release("ben");
  granted(lock.acquire({.owner = "dora"}));
}

TEST(StepSemaphore, every_holder_has_a_fence_of_its_own) {
  ModelLock lock(LockSpec::semaphore(2));
  const auto first = granted(lock.acquire({.owner = "anna"}));
  const auto second = granted(lock.acquire({.owner = "ben"}));
  EXPECT_LT(first.fence, second.fence);
}

TEST(StepSemaphore, p_permits_are_taken_together_or_not_at_all) {
  ModelLock lock(LockSpec::semaphore(5));
  granted(lock.acquire({.owner = "anna", .permits = 3}));
  busy(lock.acquire({.owner = "ben", .permits = 3}));
  granted(lock.acquire({.owner = "cleo", .permits = 2}));
  busy(lock.acquire({.owner = "ben", .permits = 1}));
  lock.release("anna");
  granted(lock.acquire({.owner = "ben", .permits = 3}));
}

TEST(StepSemaphore, all_n_permits_can_be_taken_by_one) {
  ModelLock lock(LockSpec::semaphore(5));
  granted(lock.acquire({.owner = "anna", .permits = 5}));
  busy(lock.acquire({.owner = "ben", .permits = 1}));
}

TEST(StepSemaphore, one_owner_may_hold_several_requests) {
  ModelLock lock(LockSpec::semaphore(2));
  granted(lock.acquire({.owner = "anna", .request = 1}));
  granted(lock.acquire({.owner = "anna", .request = 2}));
  granted(lock.acquire({.owner = "anna", .request = 2}));
  busy(lock.acquire({.owner = "anna", .request = 3}));
}

TEST(StepSemaphore, a_small_request_does_not_overtake_a_large_one_in_order) {
  ModelLock lock(LockSpec::semaphore(4));
  granted(lock.acquire({.owner = "anna", .permits = 3}));
  queued(lock.acquire({.owner = "ben", .permits = 4, .wait = true}));
  busy(lock.acquire({.owner = "cleo", .permits = 1}));
  EXPECT_EQ(queued(lock.acquire({.owner = "cleo", .permits = 1, .wait = true})).ahead, 1U);
  lock.release("anna");
  EXPECT_EQ(holders(lock), Owners{"ben"});
  lock.release("ben");
  EXPECT_EQ(holders(lock), Owners{"cleo"});
}

TEST(StepSemaphore, as_many_as_fit_are_handed_over_together) {
  ModelLock lock(LockSpec::semaphore(4));
  granted(lock.acquire({.owner = "anna", .permits = 4}));
  queued(lock.acquire({.owner = "ben", .permits = 2, .wait = true}));
  queued(lock.acquire({.owner = "cleo", .permits = 1, .wait = true}));
  queued(lock.acquire({.owner = "dora", .permits = 2, .wait = true}));
  queued(lock.acquire({.owner = "emil", .permits = 1, .wait = true}));
  lock.release("anna");
  EXPECT_EQ(told(lock), (Owners{"ben+", "cleo+"}));
  EXPECT_EQ(waiters(lock), (Owners{"dora", "emil"}));
}

TEST(StepSemaphore, one_that_barges_takes_what_is_left_beside_a_waiting_large_request) {
  ModelLock lock(LockSpec::semaphore(4, Order::barging));
  granted(lock.acquire({.owner = "anna", .permits = 3}));
  queued(lock.acquire({.owner = "ben", .permits = 4, .wait = true}));
  granted(lock.acquire({.owner = "cleo", .permits = 1}));
  EXPECT_EQ(waiters(lock), Owners{"ben"});
}

TEST(StepSemaphore, expired_permits_come_back_one_by_one) {
  ModelLock lock(LockSpec::semaphore(2));
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  granted(lock.acquire({.owner = "ben", .ttl = 3s}));
  EXPECT_EQ(busy(lock.acquire({.owner = "cleo"})).retry_after, 1s);
  lock.pass(1s);
  granted(lock.acquire({.owner = "cleo"}));
  busy(lock.acquire({.owner = "dora"}));
}

}  // namespace
}  // namespace holdfast::test
