// SPDX-License-Identifier: Apache-2.0
#include "client_contract.hpp"

namespace holdfast::test {

TEST_P(ClientContract, the_same_owner_re_enters_with_the_same_fence) {
  auto lock = client.reentrant("orders:42");
  auto first = ok(lock.acquire({.owner = "worker-7"}));
  auto second = ok(lock.acquire({.owner = "worker-7"}));
  EXPECT_EQ(first->fence(), second->fence());
  EXPECT_EQ(code_of(lock.acquire({.owner = "worker-8"})), "busy");
  EXPECT_EQ(code_of(lock.acquire()), "busy");
  EXPECT_EQ(first->release(), Released::released);
  EXPECT_EQ(code_of(lock.acquire({.owner = "worker-8"})), "busy");
  EXPECT_EQ(second->release(), Released::released);
  EXPECT_TRUE(is_ok(lock.acquire({.owner = "worker-8"})));
}

TEST_P(ClientContract, a_semaphore_has_n_permits_that_are_taken_together) {
  const auto reason = why_not(model::LockSpec::semaphore(4));
  if (!reason.empty()) GTEST_SKIP() << reason;
  auto pool = client.semaphore("pool", 4);
  auto three = ok(pool.acquire({.permits = 3}));
  EXPECT_EQ(code_of(pool.acquire({.permits = 2})), "busy");
  auto one = ok(pool.acquire());
  (void)three->release();
  EXPECT_TRUE(is_ok(pool.acquire({.permits = 3})));
}

TEST_P(ClientContract, readers_share_and_exclude_writers) {
  auto lock = client.read_write("catalogue");
  auto first = ok(lock.acquire_shared());
  auto second = ok(lock.acquire_shared());
  EXPECT_EQ(code_of(lock.acquire()), "busy");
  EXPECT_EQ(code_of(client.mutex("catalogue").acquire()), "busy");
  (void)first->release();
  (void)second->release();
  auto writer = ok(lock.acquire());
  EXPECT_EQ(code_of(lock.acquire_shared()), "busy");
}

TEST_P(ClientContract, a_waiting_writer_stops_new_readers) {
  auto lock = client.read_write("catalogue");
  auto reader = ok(lock.acquire_shared());
  std::jthread writer([&lock] { EXPECT_TRUE(is_ok(lock.acquire({.wait = 60s}))); });
  ASSERT_TRUE(has_waiter("catalogue"));
  EXPECT_EQ(code_of(lock.acquire_shared()), "busy");
  (void)reader->release();
  writer.join();
  EXPECT_TRUE(is_ok(lock.acquire_shared({.wait = 60s})));
}

TEST_P(ClientContract, an_upgrade_waits_for_the_other_readers_and_grows_the_fence) {
  if (!upgrades_wait()) GTEST_SKIP() << "an upgrade does not wait here";
  auto lock = client.read_write("catalogue");
  auto mine = ok(lock.acquire_shared());
  auto other = ok(lock.acquire_shared());
  const auto shared_fence = mine->fence();
  EXPECT_EQ(code_of(mine->upgrade()), "busy");
  std::jthread reader([&] {
    EXPECT_TRUE(has_waiter("catalogue"));
    (void)other->release();
  });
  ASSERT_TRUE(is_ok(mine->upgrade(60s)));
  EXPECT_GT(mine->fence(), shared_fence);
  EXPECT_EQ(code_of(lock.acquire_shared()), "busy");
  const auto exclusive_fence = mine->fence();
  ASSERT_TRUE(is_ok(mine->downgrade()));
  EXPECT_EQ(mine->fence(), exclusive_fence);
  EXPECT_TRUE(is_ok(lock.acquire_shared()));
  EXPECT_EQ(mine->release(), Released::released);
}

TEST_P(ClientContract, an_upgrade_that_times_out_keeps_the_shared_lease) {
  if (!upgrades_wait()) GTEST_SKIP() << "an upgrade does not wait here";
  auto lock = client.read_write("catalogue");
  auto mine = ok(lock.acquire_shared());
  auto other = ok(lock.acquire_shared());
  EXPECT_EQ(code_in_the_end([&] { return mine->upgrade(50ms); }), "timed_out");
  EXPECT_TRUE(mine->valid());
  EXPECT_TRUE(client.inspect("catalogue")->waiters.empty());
  EXPECT_TRUE(is_ok(lock.acquire_shared()));
  EXPECT_EQ(mine->release(), Released::released);
}

TEST_P(ClientContract, an_upgrade_that_is_cancelled_keeps_the_shared_lease) {
  if (!upgrades_wait()) GTEST_SKIP() << "an upgrade does not wait here";
  auto lock = client.read_write("catalogue");
  auto mine = ok(lock.acquire_shared());
  auto other = ok(lock.acquire_shared());
  std::stop_source stop;
  std::jthread canceller([&] {
    EXPECT_TRUE(has_waiter("catalogue"));
    stop.request_stop();
  });
  EXPECT_EQ(code_of(mine->upgrade(60s, stop.get_token())), "cancelled");
  EXPECT_TRUE(mine->valid());
  EXPECT_TRUE(is_ok(lock.acquire_shared()));
}

TEST_P(ClientContract, cancelling_an_upgrade_while_it_is_granted_never_leaves_it_exclusive) {
  auto lock = client.read_write("catalogue");
  for (int round = 0; round < 20; ++round) {
    auto mine = ok(lock.acquire_shared());
    auto other = ok(lock.acquire_shared());
    std::stop_source stop;
    std::jthread canceller([&] {
      let_pass(1ms);
      (void)other->release();
      let_pass(std::chrono::microseconds(round * 15));
      stop.request_stop();
    });
    const auto upgraded = mine->upgrade(60s, stop.get_token());
    canceller.join();
    EXPECT_EQ(code_of(lock.acquire_shared()), upgraded ? "busy" : "ok") << "round " << round;
  }
}

TEST_P(ClientContract, only_one_reader_may_wait_for_an_upgrade) {
  if (!upgrades_wait()) GTEST_SKIP() << "an upgrade does not wait here";
  auto lock = client.read_write("catalogue");
  auto first = ok(lock.acquire_shared());
  auto second = ok(lock.acquire_shared());
  std::jthread upgrader([&first] { EXPECT_TRUE(is_ok(first->upgrade(60s))); });
  ASSERT_TRUE(has_waiter("catalogue"));
  EXPECT_EQ(code_of(second->upgrade(60s)), "busy");
  (void)second->release();
}

TEST_P(ClientContract, an_upgrade_that_another_reader_is_in_the_way_of_keeps_the_shared_lease) {
  auto lock = client.read_write("catalogue");
  auto mine = ok(lock.acquire_shared());
  auto other = ok(lock.acquire_shared());
  const auto fence = mine->fence();
  EXPECT_EQ(code_of(mine->upgrade()), "busy");
  EXPECT_TRUE(mine->valid());
  EXPECT_EQ(mine->fence(), fence);
  EXPECT_TRUE(is_ok(lock.acquire_shared()));
  EXPECT_EQ(other->release(), Released::released);
  ASSERT_TRUE(is_ok(mine->upgrade()));
  EXPECT_GT(mine->fence(), fence);
  EXPECT_EQ(code_of(lock.acquire_shared()), "busy");
  ASSERT_TRUE(is_ok(mine->downgrade()));
  EXPECT_TRUE(is_ok(lock.acquire_shared()));
}

TEST_P(ClientContract, a_lost_reader_cannot_upgrade) {
  auto lock = client.read_write("catalogue");
  auto mine = ok(lock.acquire_shared());
  ASSERT_TRUE(is_ok(client.force_release("catalogue", "test")));
  EXPECT_EQ(code_of(mine->upgrade()), "lost");
  EXPECT_TRUE(mine->lost().stop_requested());
}

TEST_P(ClientContract, an_adopted_lease_is_not_upgraded) {
  auto lock = client.read_write("catalogue");
  const auto owner = ok(lock.acquire_shared({.ttl = 10s}))->detach();
  auto adopted = ok(client.adopt("catalogue", owner.str()));
  EXPECT_FALSE(adopted->upgrade().has_value());
  EXPECT_FALSE(adopted->downgrade().has_value());
  EXPECT_EQ(client.inspect("catalogue")->holders.size(), 1U);
}

TEST_P(ClientContract, the_value_of_the_leader_is_seen_by_everybody) {
  auto election = client.election("shard-7");
  EXPECT_EQ(*election.leader(), std::nullopt);
  auto leader = ok(election.campaign("10.0.0.7:3009"));
  EXPECT_EQ(*open_again().election("shard-7").leader(), "10.0.0.7:3009");
  EXPECT_EQ(code_of(election.campaign("10.0.0.8:3009")), "busy");
  (void)leader->release();
  EXPECT_EQ(*election.leader(), std::nullopt);
}

TEST_P(ClientContract, the_next_candidate_leads_when_the_leader_goes) {
  auto election = client.election("shard-7");
  auto first = ok(election.campaign("one"));
  std::jthread follower([this] {
    auto second = client.election("shard-7").campaign("two", {.wait = 60s});
    ASSERT_TRUE(is_ok(second));
    EXPECT_EQ(*client.election("shard-7").leader(), "two");
  });
  ASSERT_TRUE(has_waiter("shard-7"));
  EXPECT_EQ(*election.leader(), "one");
  (void)first->release();
}

}  // namespace holdfast::test
