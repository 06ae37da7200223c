// SPDX-License-Identifier: Apache-2.0
#include "store_contract.hpp"

namespace holdfast::test {

using store::Notice;

TEST_P(StoreContract, a_release_wakes_the_first_in_line) {
  const auto first = granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101});
  auto cleo = queue_up({.owner = "cleo", .request = 102});
  must_be<model::Released>(release("anna"));
  const auto grant = await_turn(ben);
  ASSERT_TRUE(grant.has_value());
  EXPECT_GT(grant->fence, first.fence);
  EXPECT_FALSE(await_turn(cleo, 20ms).has_value());
  EXPECT_EQ(granted(renew("ben", ben.ask.request, 5s)).fence, grant->fence);
}

TEST_P(StoreContract, waiters_are_served_in_the_order_in_which_they_came) {
  granted(acquire({.owner = "w", .request = 1}));
  std::vector<QueuedAsk> line;
  for (std::uint64_t i = 2; i <= 9; ++i) line.push_back(queue_up({.owner = "w", .request = i}));
  Fence last = 0;
  for (std::uint64_t i = 1; i <= 8; ++i) {
    must_be<model::Released>(release("w", i == 1 ? 1 : line[i - 2].ask.request));
    const auto grant = await_turn(line[i - 1]);
    ASSERT_TRUE(grant.has_value()) << "waiter " << i;
    EXPECT_GT(grant->fence, last);
    last = grant->fence;
  }
}

TEST_P(StoreContract, what_is_said_before_anybody_listens_is_kept) {
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101});
  release("anna");
  let_pass(10ms);
  EXPECT_TRUE(await_turn(ben).has_value());
}

TEST_P(StoreContract, a_waiter_sleeps_through_until_another_thread_releases) {
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101});
  std::jthread other([this] {
    let_pass(30ms);
    release("anna");
  });
  EXPECT_TRUE(await_turn(ben).has_value());
}

TEST_P(StoreContract, a_wait_ends_at_its_deadline) {
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101});
  const auto start = runtime->now();
  const auto notice = runtime::run_blocking(ben.ear->next(start + 30ms));
  EXPECT_EQ(notice.reason, Notice::Reason::deadline);
  EXPECT_GE(runtime->now() - start, 30ms);
}

TEST_P(StoreContract, a_poke_ends_a_wait_at_once_or_the_coming_one) {
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101});
  ben.ear->poke();
  EXPECT_EQ(runtime::run_blocking(ben.ear->next(soon())).reason, Notice::Reason::poked);
  std::jthread other([&ben] {
    let_pass(20ms);
    ben.ear->poke();
  });
  EXPECT_EQ(runtime::run_blocking(ben.ear->next(soon())).reason, Notice::Reason::poked);
}

TEST_P(StoreContract, a_release_of_a_waiter_leaves_the_queue) {
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101});
  auto cleo = queue_up({.owner = "cleo", .request = 102});
  must_be<model::Released>(release("ben", ben.ask.request));
  EXPECT_EQ(inspect().waiters.size(), 1U);
  release("anna");
  EXPECT_TRUE(await_turn(cleo).has_value());
}

// Its wait may have begun after the release was sent.
TEST_P(StoreContract, a_release_by_owner_leaves_the_place_of_the_owner_in_the_queue) {
  const auto before = granted(acquire({.owner = "ben", .request = 1})).fence;
  must_be<model::Released>(release_up_to("ben", before));
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101});
  must_be<model::NotOwner>(release_up_to("ben", before));
  must_be<model::NotOwner>(release("ben", 0));
  EXPECT_EQ(inspect().waiters.size(), 1U);
  must_be<model::Released>(release("anna"));
  EXPECT_TRUE(await_turn(ben).has_value());
}

TEST_P(StoreContract, a_newcomer_never_overtakes_a_waiter) {
  const auto in_order = why_not(Spec::mutex(Order::fifo));
  if (!in_order.empty()) GTEST_SKIP() << in_order;
  auto [ben, fence] = queue_up_behind_short_lease({.owner = "ben", .request = 101});
  ASSERT_TRUE(eventually([&, fence = fence] {
    const auto holders = inspect().holders;
    return holders.empty() || holders[0].fence != fence;
  }));
  let_pass(2ms);
  busy(acquire({.owner = "cleo"}));
  EXPECT_TRUE(await_turn(ben).has_value());
}

TEST_P(StoreContract, a_waiter_that_asks_after_the_holder_expired_gets_the_full_ttl) {
  auto [ben, fence] = queue_up_behind_short_lease({.owner = "ben", .request = 101, .ttl = 20s});
  ASSERT_TRUE(eventually([&, fence = fence] {
    const auto holders = inspect().holders;
    return holders.empty() || holders[0].fence != fence;
  }));
  let_pass(2ms);
  const auto start = runtime->now();
  const Micros left = granted(ask_again(ben)).remaining;
  EXPECT_LE(left, 20s);
  // Where members vote, the round itself costs a little.
  const auto took = std::chrono::ceil<Micros>(runtime->now() - start);
  EXPECT_GE(left, 20s - (store->capabilities().spends_requests ? took : 0us));
}

TEST_P(StoreContract, a_claim_that_nobody_confirms_lapses_and_the_next_is_served) {
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101, .claim = 100ms});
  auto cleo = queue_up({.owner = "cleo", .request = 102});
  release("anna");
  // Somebody may have to ask before it is noticed.
  EXPECT_TRUE(eventually([&] { return kind_of(ask_again(cleo)) == "Granted"; }));
  must_be<model::NotOwner>(renew("ben", 101));
}

// The lock went to a waiter that had died while it queued:
// docs/incidents.md#etcd-a-dead-waiter-is-served.
TEST_P(StoreContract, a_waiter_that_stopped_listening_does_not_keep_the_lock) {
  granted(acquire({.owner = "anna"}));
  {
    const auto gone = queue_up({.owner = "ben", .request = 101, .claim = 100ms});
  }
  release("anna");
  EXPECT_TRUE(eventually([&] {
    return kind_of(acquire({.owner = "cleo", .request = ++last_fresh_request})) == "Granted";
  }));
}

TEST_P(StoreContract, a_forced_release_serves_the_next_in_line) {
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101});
  const auto forced = must_be<model::Forced>(force_release());
  const auto grant = await_turn(ben);
  ASSERT_TRUE(grant.has_value());
  EXPECT_GT(grant->fence, forced.fence);
}

TEST_P(StoreContract, readers_up_to_the_next_writer_are_woken_together) {
  spec = Spec::read_write();
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101, .permits = 1});
  auto cleo = queue_up({.owner = "cleo", .request = 102, .permits = 1});
  auto dora = queue_up({.owner = "dora", .request = 103});
  release("anna");
  EXPECT_TRUE(await_turn(ben).has_value());
  EXPECT_TRUE(await_turn(cleo).has_value());
  EXPECT_FALSE(await_turn(dora, 10ms).has_value());
  release("ben", ben.ask.request);
  release("cleo", cleo.ask.request);
  EXPECT_TRUE(await_turn(dora).has_value());
}

TEST_P(StoreContract, a_waiting_upgrade_is_woken_when_the_last_other_reader_leaves) {
  if (store->capabilities().spends_requests) GTEST_SKIP() << "an upgrade does not wait here";
  spec = Spec::read_write();
  const auto shared = granted(acquire({.owner = "anna", .permits = 1}));
  granted(acquire({.owner = "ben", .permits = 1}));
  auto upgrade = queue_up({.owner = "anna", .request = 101, .converts = 1});
  busy(acquire({.owner = "cleo", .permits = 1}));
  release("ben");
  const auto grant = await_turn(upgrade);
  ASSERT_TRUE(grant.has_value());
  EXPECT_GT(grant->fence, shared.fence);
}

TEST_P(StoreContract, permits_wake_as_many_as_fit) {
  spec = Spec::semaphore(4);
  if (const auto reason = why_not(spec); !reason.empty()) GTEST_SKIP() << reason;
  granted(acquire({.owner = "anna", .permits = 4}));
  auto ben = queue_up({.owner = "ben", .request = 101, .permits = 2});
  auto cleo = queue_up({.owner = "cleo", .request = 102, .permits = 2});
  auto dora = queue_up({.owner = "dora", .request = 103, .permits = 1});
  release("anna");
  EXPECT_TRUE(await_turn(ben).has_value());
  EXPECT_TRUE(await_turn(cleo).has_value());
  EXPECT_FALSE(await_turn(dora, 10ms).has_value());
}

TEST_P(StoreContract, one_that_barges_may_take_a_lock_while_the_head_is_told_to_try) {
  spec = Spec::mutex(Order::barging);
  if (!store->supports(spec)) GTEST_SKIP();
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101});
  release("anna");
  granted(acquire({.owner = "cleo"}));
  EXPECT_FALSE(await_turn(ben, 20ms).has_value());
  release("cleo");
  EXPECT_TRUE(await_turn(ben).has_value());
}

TEST_P(StoreContract, waiters_of_two_opens_of_one_store_wake_each_other) {
  const auto first = store;
  const auto second = open_again();
  granted(acquire({.owner = "anna"}));
  store = second;
  auto ben = queue_up({.owner = "ben", .request = 101});
  store = first;
  release("anna");
  store = second;
  EXPECT_TRUE(await_turn(ben).has_value());
}

// A release that hands over and the waiter's own question may cross. The waiter then has its answer
// and no longer listens when the message comes: nobody may take that for a grant nobody wants.
TEST_P(StoreContract, a_waiter_that_learns_by_asking_keeps_what_it_was_given) {
  for (std::uint64_t round = 0; round < 100; ++round) {
    granted(acquire({.owner = "anna"}));
    auto ben = queue_up({.owner = "ben", .request = 1000 + round});
    std::jthread other([this] { release("anna"); });
    while (kind_of(ask_again(ben)) != "Granted") {
    }
    ben.ear.reset();
    other.join();
    let_pass(200us);
    ASSERT_EQ(kind_of(renew("ben", ben.ask.request)), "Granted") << "round " << round;
    release("ben", ben.ask.request);
  }
}

}  // namespace holdfast::test
