// SPDX-License-Identifier: Apache-2.0
//
// A server that has reached its maxmemory takes nothing new, and whoever holds a lock can still
// keep it and give it back.
#include "real_lock.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OutOfMemory : public RealLock {
 protected:
  void fill_memory() { redis_.call({"CONFIG", "SET", "maxmemory", "1"}); }

  void expect_no_room(const Ask& wanted) {
    const auto before = contents();
    const auto outcome = ask(to_acquire(wanted));
    ASSERT_FALSE(outcome.has_value()) << kind_of(*outcome);
    EXPECT_THAT(outcome.error().message, HasSubstr("OOM"));
    EXPECT_EQ(contents(), before);
  }
};

TEST_F(OutOfMemory, a_free_lock_cannot_be_acquired) {
  fill_memory();
  expect_no_room({.owner = "ann"});
  expect_no_room({.owner = "ann", .wait = true});
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(OutOfMemory, nobody_can_start_to_wait) {
  acquire({.owner = "ann"});
  fill_memory();
  expect_no_room({.owner = "ben", .wait = true});
  EXPECT_THAT(holders(), ElementsAre("ann"));
}

TEST_F(OutOfMemory, nobody_can_join_a_queue) {
  acquire({.owner = "ann"});
  acquire({.owner = "ben", .wait = true});
  fill_memory();
  expect_no_room({.owner = "cid", .wait = true});
  EXPECT_THAT(waiters(), ElementsAre("ben"));
}

TEST_F(OutOfMemory, nobody_can_join_the_holders) {
  spec_ = model::LockSpec::semaphore(3);
  acquire({.owner = "ann"});
  acquire({.owner = "ben"});
  fill_memory();
  expect_no_room({.owner = "cid"});
}

TEST_F(OutOfMemory, a_holder_that_is_alone_renews_and_releases) {
  acquire({.owner = "ann"});
  fill_memory();
  for (const Micros ttl : {20s, 30s, 40s}) {
    EXPECT_EQ(granted(renew("ann", ttl)).remaining, ttl);
  }
  EXPECT_TRUE(std::holds_alternative<model::Released>(release("ann")));
}

TEST_F(OutOfMemory, a_holder_with_a_queue_renews_and_hands_over) {
  RawRedis listener(server_);
  listener.call({"SUBSCRIBE", backends::redis::channel_of(model::ProcessId{1})});
  acquire({.owner = "ann"});
  acquire({.owner = "ben", .wait = true, .process = 1});
  acquire({.owner = "cid", .wait = true, .process = 1});
  fill_memory();
  EXPECT_EQ(granted(renew("ann", 20s)).remaining, Micros(20s));
  EXPECT_TRUE(std::holds_alternative<model::Released>(release("ann")));
  EXPECT_THAT(holders(), ElementsAre("ben"));
  const auto message = listener.receive();
  const auto told = backends::redis::decode_message(net::resp::text_of(*message->element[2]));
  ASSERT_TRUE(told.has_value());
  EXPECT_TRUE(told->message.grant.has_value());
  EXPECT_EQ(granted(renew("ben", 20s)).remaining, Micros(20s));
  EXPECT_FALSE(state().holds.at(0).claimed);
}

// What a renewal of a quorum carries: the counter has it since the lock was granted.
TEST_F(OutOfMemory, a_holder_renews_with_a_fence_that_the_counter_has) {
  const auto fence = granted(acquire({.owner = "ann"})).fence;
  granted(apply(to_agree("ann", fence + 5000)));
  fill_memory();
  for (const Micros ttl : {20s, 30s}) {
    const auto renewed = granted(apply(to_agree("ann", fence + 5000, ttl)));
    EXPECT_EQ(renewed.remaining, ttl);
    EXPECT_EQ(renewed.fence, fence + 5000);
  }
  EXPECT_TRUE(std::holds_alternative<model::Released>(release("ann")));
}

TEST_F(OutOfMemory, a_holder_with_a_queue_renews_with_a_fence_that_the_counter_has) {
  const auto fence = granted(acquire({.owner = "ann"})).fence;
  acquire({.owner = "ben", .wait = true});
  granted(apply(to_agree("ann", fence + 5000)));
  fill_memory();
  const auto renewed = granted(apply(to_agree("ann", fence + 5000, 20s)));
  EXPECT_EQ(renewed.remaining, Micros(20s));
  EXPECT_EQ(renewed.fence, fence + 5000);
}

TEST_F(OutOfMemory, a_fence_that_the_counter_has_not_is_refused_and_changes_nothing) {
  const auto fence = granted(acquire({.owner = "ann"})).fence;
  fill_memory();
  for (const auto* owner : {"ann", "nobody"}) {
    const auto before = contents();
    const auto outcome = ask(to_agree(owner, fence + 5000, 20s));
    ASSERT_FALSE(outcome.has_value()) << kind_of(*outcome);
    EXPECT_THAT(outcome.error().message, HasSubstr("OOM"));
    EXPECT_EQ(contents(), before);
  }
}

TEST_F(OutOfMemory, a_waiter_can_cancel) {
  acquire({.owner = "ann"});
  acquire({.owner = "ben", .wait = true});
  fill_memory();
  EXPECT_TRUE(std::holds_alternative<model::Released>(release("ben")));
  EXPECT_THAT(waiters(), IsEmpty());
  EXPECT_THAT(holders(), ElementsAre("ann"));
}

TEST_F(OutOfMemory, an_operator_can_force_the_holders_out) {
  acquire({.owner = "ann"});
  fill_memory();
  EXPECT_TRUE(std::holds_alternative<model::Forced>(force_release()));
  EXPECT_THAT(holders(), IsEmpty());
}

}  // namespace
}  // namespace holdfast::test
