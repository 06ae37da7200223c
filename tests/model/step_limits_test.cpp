// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;
using model::RequestId;
namespace limits = model::limits;

// Straight into the state, since 16,384 checked steps would take longer than they tell.
void fill_holders(ModelLock& lock) {
  lock.state.spec = LockSpec::read_write(Order::fifo);
  for (std::size_t i = 1; i <= limits::max_holders; ++i) {
    lock.state.holds.push_back({.owner = owner_named("crowd"),
                                .request = RequestId{i},
                                .permits = 1,
                                .fence = lock.fences.next(lock.wall_us),
                                .expires = lock.now + 60s,
                                .since = lock.now,
                                .ttl = 60s});
  }
}

void fill_queue(ModelLock& lock) {
  for (std::size_t i = 1; i <= limits::max_waiters; ++i) {
    lock.state.queue.emplace(lock.fences.next(lock.wall_us),
                             model::Waiter{.owner = owner_named("crowd"),
                                           .request = RequestId{i},
                                           .since = lock.now,
                                           .ttl = 60s,
                                           .claim = limits::default_claim});
  }
  lock.state.queue_expires = lock.now + limits::queue_ttl;
}

TEST(StepLimits, one_waiter_too_many_is_refused_and_changes_nothing) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  fill_queue(lock);
  const auto refusal = must_be<model::Refused>(lock.acquire({.owner = "ben", .wait = true}));
  EXPECT_EQ(refusal.error.code, Errc::limit_reached);
  EXPECT_NE(refusal.error.message.find("max_waiters"), std::string::npos);
  EXPECT_EQ(lock.state.queue.size(), limits::max_waiters);
}

TEST(StepLimits, a_waiter_of_a_full_queue_may_ask_again) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  fill_queue(lock);
  queued(lock.acquire({.owner = "crowd", .request = 100, .wait = true}));
}

TEST(StepLimits, one_holder_too_many_is_refused_and_changes_nothing) {
  ModelLock lock(LockSpec::read_write());
  fill_holders(lock);
  const auto refusal = must_be<model::Refused>(lock.acquire({.owner = "ben", .permits = 1}));
  EXPECT_EQ(refusal.error.code, Errc::limit_reached);
  EXPECT_NE(refusal.error.message.find("max_holders"), std::string::npos);
  EXPECT_EQ(lock.state.holds.size(), limits::max_holders);
}

TEST(StepLimits, a_full_lock_is_handed_over_when_a_holder_leaves) {
  ModelLock lock(LockSpec::read_write());
  fill_holders(lock);
  queued(lock.acquire({.owner = "anna", .permits = all_permits, .wait = true}));
  queued(lock.acquire({.owner = "ben", .permits = 1, .wait = true}));
  must_be<model::Released>(lock.release("anna"));
  EXPECT_TRUE(lock.messages.empty());
  must_be<model::Released>(lock.release("crowd", 1));
  EXPECT_EQ(told(lock), Owners{"ben+"});
}

}  // namespace
}  // namespace holdfast::test
