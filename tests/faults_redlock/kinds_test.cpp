// SPDX-License-Identifier: Apache-2.0
//
// Every kind of lock, as far as a vote can decide it.
#include "faults_redlock/redlock_fixture.hpp"

namespace holdfast::faults {
namespace {

class Kinds : public RedlockTest {
 protected:
  const Client ours = open_all("retries=0");
  const Client theirs = open_all("retries=0");
};

TEST_F(Kinds, readers_share_and_a_writer_excludes) {
  auto first = ours.read_write("page").acquire_shared({.wait = 20s});
  auto second = theirs.read_write("page").acquire_shared({.wait = 20s});
  ASSERT_TRUE(is_ok(first));
  ASSERT_TRUE(is_ok(second));
  EXPECT_EQ(code_of(decided([&] { return theirs.read_write("page").try_acquire(); })), "busy");
  EXPECT_TRUE(is_released(first->release()));
  EXPECT_EQ(code_of(decided([&] { return theirs.read_write("page").try_acquire(); })), "busy");
  EXPECT_TRUE(is_released(second->release()));
  auto writer = theirs.read_write("page").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(writer));
  EXPECT_EQ(code_of(decided([&] { return ours.read_write("page").acquire_shared(); })), "busy");
  EXPECT_EQ(code_of(decided([&] { return ours.mutex("page").try_acquire(); })), "busy");
  EXPECT_TRUE(is_released(writer->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Kinds, a_reader_becomes_a_writer_and_a_reader_again) {
  auto lease = ours.read_write("page").acquire_shared({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  const Fence as_reader = lease->fence();
  ASSERT_TRUE(is_ok(lease->upgrade()));
  const Fence as_writer = lease->fence();
  EXPECT_GT(as_writer, as_reader);
  EXPECT_EQ(code_of(decided([&] { return theirs.read_write("page").acquire_shared(); })), "busy");
  ASSERT_TRUE(is_ok(lease->downgrade()));
  EXPECT_EQ(lease->fence(), as_writer);
  auto other = theirs.read_write("page").acquire_shared({.wait = 20s});
  ASSERT_TRUE(is_ok(other));
  EXPECT_EQ(code_of(decided([&] { return lease->upgrade(); })), "busy");
  EXPECT_TRUE(lease->valid()) << "a refused upgrade leaves the reader";
  EXPECT_TRUE(is_released(other->release()));
  EXPECT_TRUE(is_ok(lease->upgrade()));
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

// Those that live granted it, and the others hear of it when they go on. All of them must be told
// that it came to nothing, by the next renewals at the latest.
TEST_F(Kinds, an_upgrade_without_a_majority_is_taken_back) {
  auto lease =
      ours.read_write("page").acquire_shared({.ttl = 30s, .wait = 20s, .renew_every = 300ms});
  ASSERT_TRUE(is_ok(lease));
  stop({0, 1, 2});
  EXPECT_EQ(code_of(lease->upgrade()), "quorum_not_reached");
  cont();
  auto other = theirs.read_write("page").acquire_shared({.wait = 20s});
  EXPECT_TRUE(is_ok(other));
  EXPECT_TRUE(lease->valid());
}

TEST_F(Kinds, an_owner_enters_again_with_the_same_fence) {
  const AcquireOptions options{.wait = 20s, .owner = "worker-7"};
  auto outer = ours.reentrant("tree").acquire(options);
  ASSERT_TRUE(is_ok(outer));
  auto inner = ours.reentrant("tree").acquire(options);
  ASSERT_TRUE(is_ok(inner));
  EXPECT_EQ(inner->fence(), outer->fence());
  // From another client too: the owner counts.
  ASSERT_TRUE(eventually([&] { return fences("tree") == std::vector<Fence>(5, outer->fence()); }));
  auto innermost = theirs.reentrant("tree").acquire(options);
  ASSERT_TRUE(is_ok(innermost));
  EXPECT_EQ(innermost->fence(), outer->fence());
  EXPECT_EQ(code_of(decided([&] { return theirs.reentrant("tree").try_acquire(); })), "busy");
  EXPECT_TRUE(is_released(outer->release()));
  EXPECT_TRUE(is_released(innermost->release()));
  EXPECT_EQ(code_of(decided([&] { return theirs.reentrant("tree").try_acquire(); })), "busy")
      << "one is still inside";
  EXPECT_TRUE(is_released(inner->release()));
  auto next = theirs.reentrant("tree").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(next));
  EXPECT_GT(next->fence(), outer->fence());
  EXPECT_TRUE(is_released(next->release()));
  EXPECT_EQ(left_behind(), "");
}

// Two members would mint a fence of their own for it.
TEST_F(Kinds, an_owner_enters_again_with_the_same_fence_though_members_forgot_it) {
  const AcquireOptions options{.wait = 20s, .owner = "worker-7"};
  auto outer = ours.reentrant("tree").acquire(options);
  ASSERT_TRUE(is_ok(outer));
  ASSERT_TRUE(eventually([&] { return fences("tree") == std::vector<Fence>(5, outer->fence()); }));
  for (const std::size_t at : {0, 1}) test::RawRedis(server(at)).call({"FLUSHALL"});
  auto inner = ours.reentrant("tree").acquire(options);
  ASSERT_TRUE(is_ok(inner));
  EXPECT_EQ(inner->fence(), outer->fence());
  EXPECT_TRUE(is_released(inner->release()));
  EXPECT_TRUE(is_released(outer->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Kinds, a_semaphore_of_several_is_refused_with_the_reason) {
  const auto many = ours.semaphore("pool", 3).acquire({.wait = 1s});
  ASSERT_EQ(code_of(many), "unsupported");
  EXPECT_THAT(message_of(many), HasSubstr("cannot count the permits"));
  auto one = ours.semaphore("door", 1).acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(one));
  EXPECT_EQ(code_of(decided([&] { return theirs.semaphore("door", 1).try_acquire(); })), "busy");
  EXPECT_TRUE(is_released(one->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Kinds, order_is_refused_with_the_reason_where_it_is_asked_for) {
  const auto fifo = ours.mutex("orders", Order::fifo).try_acquire();
  ASSERT_EQ(code_of(fifo), "unsupported");
  EXPECT_THAT(message_of(fifo), HasSubstr("keep no common queue"));
  EXPECT_TRUE(is_ok(ours.mutex("orders", Order::barging).acquire({.wait = 20s})));
}

TEST_F(Kinds, an_election_has_one_leader_whose_value_all_can_read) {
  EXPECT_EQ(theirs.election("chair").leader(), std::nullopt);
  auto leader = ours.election("chair").campaign("10.0.0.1:80", {.wait = 20s});
  ASSERT_TRUE(is_ok(leader));
  EXPECT_EQ(theirs.election("chair").leader(), "10.0.0.1:80");
  EXPECT_EQ(code_of(decided(
                [&] { return theirs.election("chair").campaign("10.0.0.2:80", {.wait = 300ms}); })),
            "timed_out");
  kill({1, 2});
  EXPECT_EQ(theirs.election("chair").leader(), "10.0.0.1:80");
  EXPECT_TRUE(is_released(leader->release()));
  auto next = theirs.election("chair").campaign("10.0.0.2:80", {.wait = 20s});
  ASSERT_TRUE(is_ok(next));
  EXPECT_GT(next->fence(), leader->fence());
  EXPECT_EQ(ours.election("chair").leader(), "10.0.0.2:80");
}

TEST_F(Kinds, a_name_in_use_as_another_kind_is_refused) {
  auto lease = ours.reentrant("tree").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(code_of(theirs.election("tree").campaign("me")), "spec_mismatch");
}

TEST_F(Kinds, a_lease_is_adopted_by_its_owner) {
  auto lease = ours.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  const Fence fence = lease->fence();
  const auto owner = lease->detach();
  auto adopted = theirs.adopt("orders", owner.view());
  ASSERT_TRUE(is_ok(adopted));
  EXPECT_EQ(adopted->fence(), fence);
  EXPECT_TRUE(is_ok(adopted->extend(60s)));
  EXPECT_TRUE(is_released(adopted->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Kinds, fences_may_be_turned_off) {
  const auto client = open_all("fence=off");
  auto lease = client.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(lease->fence(), 0U);
  EXPECT_TRUE(gets_renewed(*lease, 2));
  EXPECT_TRUE(lease->valid());
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

}  // namespace
}  // namespace holdfast::faults
