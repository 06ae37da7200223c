// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::FenceCounter;
using model::LockSpec;

TEST(StepFence, the_first_one_is_ten_milliseconds_above_the_wall_clock) {
  ModelLock lock(LockSpec::mutex());
  EXPECT_EQ(granted(lock.acquire({.owner = "anna"})).fence, lock.wall_us + 10'000);
}

TEST(StepFence, every_grant_of_every_lock_of_a_store_gets_a_larger_one) {
  FenceCounter counter;
  Fence last = 0;
  for (int round = 0; round < 1000; ++round) {
    const auto fence = counter.next(static_cast<std::uint64_t>(round) * 3);
    EXPECT_GT(fence, last);
    last = fence;
  }
}

TEST(StepFence, it_grows_from_holder_to_holder) {
  ModelLock lock(LockSpec::mutex());
  Fence last = 0;
  for (int round = 0; round < 100; ++round) {
    const auto fence = granted(lock.acquire({.owner = "anna"})).fence;
    EXPECT_GT(fence, last);
    last = fence;
    lock.release("anna");
    if (round % 10 == 0) lock.pass(1s);
  }
}

TEST(StepFence, a_clock_that_goes_back_cannot_lower_it) {
  ModelLock lock(LockSpec::mutex());
  const auto before = granted(lock.acquire({.owner = "anna"})).fence;
  lock.release("anna");
  lock.wall_us -= 3'600'000'000;
  EXPECT_GT(granted(lock.acquire({.owner = "anna"})).fence, before);
}

TEST(StepFence, an_emptied_store_continues_above_everything_it_gave_out) {
  ModelLock before(LockSpec::mutex());
  Fence last = 0;
  for (int round = 0; round < 5000; ++round) {
    last = granted(before.acquire({.owner = "anna"})).fence;
    before.release("anna");
    before.pass(2us);
  }
  ModelLock after(LockSpec::mutex());
  after.wall_us = before.wall_us + 1;
  EXPECT_GT(granted(after.acquire({.owner = "anna"})).fence, last);
}

TEST(StepFence, a_renewal_and_a_repetition_keep_it) {
  ModelLock lock(LockSpec::mutex());
  const auto fence = granted(lock.acquire({.owner = "anna"})).fence;
  EXPECT_EQ(granted(lock.renew("anna")).fence, fence);
  EXPECT_EQ(granted(lock.acquire({.owner = "anna"})).fence, fence);
}

TEST(StepFence, waiters_that_are_served_together_get_different_ones_in_their_order) {
  ModelLock lock(LockSpec::semaphore(3));
  granted(lock.acquire({.owner = "anna", .permits = 3}));
  for (const auto* name : {"ben", "cleo", "dora"}) {
    queued(lock.acquire({.owner = name, .wait = true}));
  }
  lock.release("anna");
  ASSERT_EQ(lock.messages.size(), 3U);
  EXPECT_LT(lock.messages[0].grant->fence, lock.messages[1].grant->fence);
  EXPECT_LT(lock.messages[1].grant->fence, lock.messages[2].grant->fence);
}

TEST(StepFence, a_wall_clock_of_zero_leaves_the_floor_out) {
  FenceCounter counter(41);
  EXPECT_EQ(counter.next(0), 42U);
  counter.raise_to(100);
  counter.raise_to(50);
  EXPECT_EQ(counter.next(0), 101U);
}

}  // namespace
}  // namespace holdfast::test
