// SPDX-License-Identifier: Apache-2.0
#include "read_write_asks.hpp"
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

TEST(StepReadWrite, readers_share_and_a_writer_is_alone) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(reader("ben")));
  busy(lock.acquire(writer("cleo")));
  lock.release("anna");
  lock.release("ben");
  granted(lock.acquire(writer("cleo")));
  busy(lock.acquire(reader("anna")));
  busy(lock.acquire(writer("ben")));
}

TEST(StepReadWrite, every_reader_has_a_fence_and_a_lease_of_its_own) {
  ModelLock lock(LockSpec::read_write());
  const auto first = granted(lock.acquire({.owner = "anna", .permits = 1, .ttl = 2s}));
  const auto second = granted(lock.acquire({.owner = "ben", .permits = 1, .ttl = 10s}));
  EXPECT_LT(first.fence, second.fence);
  lock.pass(3s);
  must_be<model::NotOwner>(lock.renew("anna"));
  granted(lock.renew("ben"));
  EXPECT_EQ(holders(lock), Owners{"ben"});
}

TEST(StepReadWrite, releasing_one_reader_leaves_the_others) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(reader("ben")));
  must_be<model::Released>(lock.release("anna"));
  EXPECT_EQ(holders(lock), Owners{"ben"});
  busy(lock.acquire(writer("cleo")));
}

class WaitingWriter : public testing::TestWithParam<Order> {};

TEST_P(WaitingWriter, stops_new_readers_that_try) {
  ModelLock lock(LockSpec::read_write(GetParam()));
  granted(lock.acquire(reader("anna")));
  queued(lock.acquire(writer("ben", true)));
  busy(lock.acquire(reader("cleo")));
}

TEST_P(WaitingWriter, stops_new_readers_that_wait) {
  ModelLock lock(LockSpec::read_write(GetParam()));
  granted(lock.acquire(reader("anna")));
  queued(lock.acquire(writer("ben", true)));
  EXPECT_EQ(queued(lock.acquire(reader("cleo", true))).ahead, 1U);
}

TEST_P(WaitingWriter, lets_a_reader_that_already_holds_repeat_its_request) {
  ModelLock lock(LockSpec::read_write(GetParam()));
  granted(lock.acquire(reader("anna")));
  queued(lock.acquire(writer("ben", true)));
  granted(lock.acquire(reader("anna")));
  granted(lock.renew("anna"));
}

TEST_P(WaitingWriter, no_longer_stops_readers_once_it_gave_up) {
  ModelLock lock(LockSpec::read_write(GetParam()));
  granted(lock.acquire(reader("anna")));
  queued(lock.acquire(writer("ben", true)));
  must_be<model::Released>(lock.release("ben"));
  granted(lock.acquire(reader("cleo")));
}

INSTANTIATE_TEST_SUITE_P(InEveryOrder, WaitingWriter, testing::Values(Order::fifo, Order::barging),
                         [](const auto& param) {
                           return param.param == Order::fifo ? "fifo" : "barging";
                         });

TEST(StepReadWrite, the_readers_up_to_the_next_writer_are_handed_over_together) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(writer("anna")));
  queued(lock.acquire(reader("ben", true)));
  queued(lock.acquire(reader("cleo", true)));
  queued(lock.acquire(writer("dora", true)));
  queued(lock.acquire(reader("emil", true)));
  lock.release("anna");
  EXPECT_EQ(told(lock), (Owners{"ben+", "cleo+"}));
  EXPECT_EQ(holders(lock), (Owners{"ben", "cleo"}));
  EXPECT_EQ(waiters(lock), (Owners{"dora", "emil"}));
}

TEST(StepReadWrite, a_writer_at_the_head_is_handed_over_alone_when_the_last_reader_leaves) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(reader("ben")));
  queued(lock.acquire(writer("cleo", true)));
  queued(lock.acquire(reader("dora", true)));
  lock.release("anna");
  EXPECT_TRUE(lock.messages.empty());
  lock.release("ben");
  EXPECT_EQ(told(lock), Owners{"cleo+"});
  EXPECT_EQ(holders(lock), Owners{"cleo"});
}

TEST(StepReadWrite, readers_behind_a_writer_that_gives_up_are_served_at_once) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  queued(lock.acquire(writer("ben", true)));
  queued(lock.acquire(reader("cleo", true)));
  must_be<model::Released>(lock.release("ben"));
  EXPECT_EQ(told(lock), Owners{"cleo+"});
  EXPECT_EQ(holders(lock), (Owners{"anna", "cleo"}));
}

TEST(StepReadWrite, a_writer_waits_for_the_longest_reader_lease) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = 1, .ttl = 2s}));
  granted(lock.acquire({.owner = "ben", .permits = 1, .ttl = 9s}));
  EXPECT_EQ(queued(lock.acquire(writer("cleo", true))).retry_after, 9s);
}

TEST(StepReadWrite, a_mutex_and_a_read_write_lock_on_one_name_exclude_each_other) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire_as(LockSpec::mutex(), writer("anna")));
  busy(lock.acquire_as(LockSpec::read_write(), reader("ben")));
  busy(lock.acquire_as(LockSpec::read_write(), writer("ben")));
  lock.release("anna");
  granted(lock.acquire_as(LockSpec::read_write(), reader("ben")));
  busy(lock.acquire_as(LockSpec::mutex(), writer("anna")));
  granted(lock.acquire_as(LockSpec::read_write(), reader("cleo")));
}

}  // namespace
}  // namespace holdfast::test
