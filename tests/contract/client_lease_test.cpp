// SPDX-License-Identifier: Apache-2.0
//
// The life of a lease: renewed, lost, extended, detached, adopted.
#include "client_contract.hpp"

#include <future>

namespace holdfast::test {

namespace {

bool is_lost_within(const Lease& lease, Duration time) {
  std::promise<void> fired;
  const std::stop_callback on_lost(lease.lost(), [&fired] { fired.set_value(); });
  return fired.get_future().wait_for(time) == std::future_status::ready;
}

}  // namespace

TEST_P(ClientContract, renewal_keeps_a_lease_beyond_its_ttl) {
  auto lease = client.mutex("orders:42").acquire({.ttl = 150ms});
  ASSERT_TRUE(is_ok(lease));
  const auto fence = lease->fence();
  for (int i = 0; i < 10; ++i) {
    let_pass(50ms);
    ASSERT_TRUE(lease->valid());
    ASSERT_EQ(code_of(client.mutex("orders:42").acquire()), "busy");
  }
  EXPECT_EQ(lease->fence(), fence);
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_P(ClientContract, without_renewal_a_lease_is_lost_before_it_ends_in_the_store) {
  auto lease = client.mutex("orders:42").acquire({.ttl = 200ms, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(is_lost_within(*lease, 5s));
  EXPECT_FALSE(lease->valid());
  EXPECT_EQ(lease->remaining(), 0s);
}

TEST_P(ClientContract, nobody_is_granted_a_lock_whose_lease_still_believes) {
  for (int round = 0; round < 5; ++round) {
    auto first = client.mutex("orders:42").acquire({.ttl = 60ms, .renew = false});
    ASSERT_TRUE(is_ok(first));
    auto second = client.mutex("orders:42").acquire({.ttl = 60ms, .wait = 5s, .renew = false});
    EXPECT_FALSE(first->valid());
    EXPECT_TRUE(first->lost().stop_requested());
    ASSERT_TRUE(is_ok(second));
    (void)second->release();
  }
}

TEST_P(ClientContract, the_lost_callback_runs_once_and_says_why) {
  auto lease = client.mutex("orders:42").acquire({.ttl = 60ms, .renew = false});
  std::promise<Errc> told;
  lease->on_lost([&told](const Error& error) { told.set_value(error.code); });
  auto future = told.get_future();
  ASSERT_EQ(future.wait_for(5s), std::future_status::ready);
  EXPECT_EQ(future.get(), Errc::lost);
}

TEST_P(ClientContract, a_lost_callback_that_comes_late_runs_at_once) {
  auto lease = client.mutex("orders:42").acquire({.ttl = 40ms, .renew = false});
  ASSERT_TRUE(is_lost_within(*lease, 5s));
  std::promise<Errc> told;
  lease->on_lost([&told](const Error& error) { told.set_value(error.code); });
  EXPECT_EQ(told.get_future().wait_for(5s), std::future_status::ready);
}

TEST_P(ClientContract, a_lost_callback_that_was_taken_back_does_not_run) {
  std::atomic<int> calls = 0;
  auto lease = client.mutex("orders:42").acquire({.ttl = 40ms, .renew = false});
  lease->on_lost([&calls](const Error&) { ++calls; });
  lease->on_lost({});
  ASSERT_TRUE(is_lost_within(*lease, 5s));
  let_pass(20ms);
  EXPECT_EQ(calls, 0);
}

TEST_P(ClientContract, a_released_lease_is_never_called_lost) {
  std::atomic<int> calls = 0;
  auto lease = client.mutex("orders:42").acquire({.ttl = 50ms});
  lease->on_lost([&calls](const Error&) { ++calls; });
  ASSERT_TRUE(is_ok(lease->release()));
  let_pass(120ms);
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(lease->lost().stop_requested());
}

TEST_P(ClientContract, a_forced_release_is_noticed_at_the_next_renewal) {
  auto lease = client.mutex("orders:42").acquire({.ttl = 600ms});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(open_again().force_release("orders:42", "test"), 1U);
  EXPECT_TRUE(is_lost_within(*lease, 500ms));
  EXPECT_FALSE(lease->valid());
  EXPECT_EQ(lease->release(), Released::already_expired);
}

// What redisson#7272 did: a renewal that outlived its release kept the lock of the next holder.
TEST_P(ClientContract, nothing_is_renewed_after_a_release) {
  for (int round = 0; round < 5; ++round) {
    auto lease = client.mutex("orders:42").acquire({.ttl = 60ms, .owner = "worker"});
    ASSERT_TRUE(is_ok(lease));
    let_pass(std::chrono::milliseconds(round * 9));
    ASSERT_TRUE(is_ok(lease->release()));
    auto next = client.mutex("orders:42").acquire({.ttl = 60ms, .renew = false, .owner = "worker"});
    ASSERT_TRUE(is_ok(next));
    let_pass(70ms);
    EXPECT_TRUE(client.inspect("orders:42")->holders.empty());
  }
}

TEST_P(ClientContract, max_hold_ends_renewal) {
  auto lease = client.mutex("orders:42").acquire({.ttl = 90ms, .max_hold = 250ms});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_FALSE(is_lost_within(*lease, 120ms));
  EXPECT_TRUE(is_lost_within(*lease, 2s));
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire({.wait = 1s})));
}

TEST_P(ClientContract, an_extension_lasts_at_least_what_was_asked) {
  auto lease = client.mutex("orders:42").acquire({.ttl = 1s, .renew = false});
  ASSERT_TRUE(is_ok(lease->extend(20s)));
  EXPECT_GT(lease->remaining(), 19s);
  ASSERT_TRUE(is_ok(lease->extend(5s)));
  EXPECT_GT(lease->remaining(), 19s) << "an extension never shortens";
}

TEST_P(ClientContract, what_is_lost_cannot_be_extended) {
  auto lease = client.mutex("orders:42").acquire({.ttl = 10s});
  ASSERT_TRUE(is_ok(client.force_release("orders:42", "test")));
  EXPECT_EQ(code_of(lease->extend(10s)), "lost");
  EXPECT_TRUE(lease->lost().stop_requested());
  EXPECT_EQ(code_of(lease->extend(10s)), "lost");
}

TEST_P(ClientContract, a_detached_lock_stays_held_and_is_adopted_by_its_owner_only) {
  OwnerId owner = client.mutex("orders:42").acquire({.ttl = 10s})->detach();
  EXPECT_EQ(code_of(client.mutex("orders:42").acquire()), "busy");
  auto other = open_again();
  EXPECT_EQ(code_of(other.adopt("orders:42", "somebody else")), "not_owner");
  auto adopted = other.adopt("orders:42", owner.str());
  ASSERT_TRUE(is_ok(adopted));
  EXPECT_GT(adopted->fence(), 0U);
  EXPECT_TRUE(adopted->valid());
  EXPECT_EQ(adopted->release(), Released::released);
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire()));
  EXPECT_EQ(code_of(other.adopt("nobody's", owner.str())), "not_held");
}

TEST_P(ClientContract, a_detached_lock_ends_with_its_ttl) {
  client.mutex("orders:42").acquire({.ttl = 80ms})->detach();
  EXPECT_EQ(code_of(client.mutex("orders:42").acquire()), "busy");
  let_pass(100ms);
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire()));
}

TEST_P(ClientContract, an_adopted_lease_can_be_extended) {
  const auto owner = client.mutex("orders:42").acquire({.ttl = 200ms})->detach();
  auto adopted = client.adopt("orders:42", owner.str());
  ASSERT_TRUE(is_ok(adopted));
  ASSERT_TRUE(is_ok(adopted->extend(20s)));
  EXPECT_GT(adopted->remaining(), 19s);
  let_pass(220ms);
  EXPECT_EQ(code_of(client.mutex("orders:42").acquire()), "busy");
}

}  // namespace holdfast::test
