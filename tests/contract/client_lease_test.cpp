// SPDX-License-Identifier: Apache-2.0
//
// The life of a lease: renewed, lost, extended, detached, adopted.
#include "client_contract.hpp"

#include <future>

namespace holdfast::test {

namespace {

bool gets_lost(const Lease& lease) {
  return eventually([&] { return lease.lost().stop_requested(); });
}

}  // namespace

TEST_P(ClientContract, renewal_keeps_a_lease_beyond_its_ttl) {
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 60s, .renew_every = 50ms}));
  const auto fence = lease->fence();
  const auto end = [&] { return now() + client.inspect("orders:42")->holders.at(0).remaining; };
  const auto first_end = end();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(gets_renewed(*lease));
    ASSERT_EQ(code_of(client.mutex("orders:42").acquire()), "busy");
  }
  EXPECT_TRUE(eventually([&] { return end() > first_end + 100ms; })) << "by the store";
  EXPECT_EQ(lease->fence(), fence);
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_P(ClientContract, without_renewal_a_lease_is_lost_before_it_ends_in_the_store) {
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 200ms, .renew = false}));
  EXPECT_TRUE(gets_lost(*lease));
  EXPECT_FALSE(lease->valid());
  EXPECT_EQ(lease->remaining(), 0s);
}

TEST_P(ClientContract, nobody_is_granted_a_lock_whose_lease_still_believes) {
  for (int round = 0; round < 3; ++round) {
    auto first = ok(client.mutex("orders:42").acquire({.ttl = 150ms, .renew = false}));
    auto second = ok(client.mutex("orders:42").acquire({.ttl = 60s, .wait = 60s, .renew = false}));
    EXPECT_FALSE(first->valid());
    EXPECT_TRUE(first->lost().stop_requested());
    (void)second->release();
  }
}

TEST_P(ClientContract, the_lost_callback_runs_once_and_says_why) {
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 150ms, .renew = false}));
  std::promise<Errc> told;
  lease->on_lost([&told](const Error& error) { told.set_value(error.code); });
  auto future = told.get_future();
  ASSERT_EQ(future.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(future.get(), Errc::lost);
}

TEST_P(ClientContract, a_lost_callback_that_comes_late_runs_at_once) {
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 150ms, .renew = false}));
  ASSERT_TRUE(gets_lost(*lease));
  std::promise<Errc> told;
  lease->on_lost([&told](const Error& error) { told.set_value(error.code); });
  EXPECT_EQ(told.get_future().wait_for(60s), std::future_status::ready);
}

TEST_P(ClientContract, a_lost_callback_that_was_taken_back_does_not_run) {
  std::atomic<int> calls = 0;
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 150ms, .renew = false}));
  lease->on_lost([&calls](const Error&) { ++calls; });
  lease->on_lost({});
  ASSERT_TRUE(gets_lost(*lease));
  std::promise<void> told;
  lease->on_lost([&told](const Error&) { told.set_value(); });
  told.get_future().wait();
  EXPECT_EQ(calls, 0);
}

TEST_P(ClientContract, a_released_lease_is_never_called_lost) {
  std::atomic<int> calls = 0;
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 150ms}));
  lease->on_lost([&calls](const Error&) { ++calls; });
  ASSERT_TRUE(is_ok(lease->release()));
  // By then the first one would have ended, too.
  const auto later = ok(client.mutex("later").acquire({.ttl = 200ms, .renew = false}));
  ASSERT_TRUE(gets_lost(*later));
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(lease->lost().stop_requested());
}

TEST_P(ClientContract, a_forced_release_is_noticed_at_the_next_renewal) {
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 60s, .renew_every = 50ms}));
  EXPECT_EQ(open_again().force_release("orders:42", "test"), 1U);
  EXPECT_TRUE(gets_lost(*lease));
  EXPECT_FALSE(lease->valid());
  EXPECT_EQ(lease->release(), Released::already_expired);
}

// A renewal that outlived its release kept the lock of the next holder:
// docs/incidents.md#redisson-a-renewal-that-outlives-the-release.
TEST_P(ClientContract, nothing_is_renewed_after_a_release) {
  for (int round = 0; round < 3; ++round) {
    const AcquireOptions renewed{.ttl = 10min, .renew_every = 20ms, .owner = "worker"};
    auto lease = ok(client.mutex("orders:42").acquire(renewed));
    let_pass(std::chrono::milliseconds(round * 9));
    ASSERT_TRUE(is_ok(lease->release()));
    auto next =
        ok(client.mutex("orders:42").acquire({.ttl = 150ms, .renew = false, .owner = "worker"}));
    EXPECT_TRUE(becomes_free());
  }
}

TEST_P(ClientContract, max_hold_ends_renewal) {
  const auto start = now();
  const AcquireOptions options{.ttl = 300ms, .renew_every = 50ms, .max_hold = 400ms};
  auto lease = ok(client.mutex("orders:42").acquire(options));
  EXPECT_TRUE(gets_lost(*lease));
  EXPECT_GE(now() - start, 250ms);
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire({.wait = 60s})));
}

TEST_P(ClientContract, an_extension_lasts_at_least_what_was_asked) {
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 30s, .renew = false}));
  ASSERT_TRUE(is_ok(lease->extend(60s)));
  EXPECT_GT(lease->remaining(), 50s);
  ASSERT_TRUE(is_ok(lease->extend(5s)));
  EXPECT_GT(lease->remaining(), 50s) << "an extension never shortens";
}

TEST_P(ClientContract, what_is_lost_cannot_be_extended) {
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 10s}));
  ASSERT_TRUE(is_ok(client.force_release("orders:42", "test")));
  EXPECT_EQ(code_of(lease->extend(10s)), "lost");
  EXPECT_TRUE(lease->lost().stop_requested());
  EXPECT_EQ(code_of(lease->extend(10s)), "lost");
}

TEST_P(ClientContract, a_detached_lock_stays_held_and_is_adopted_by_its_owner_only) {
  const auto owner = ok(client.mutex("orders:42").acquire({.ttl = 10s}))->detach();
  EXPECT_EQ(code_of(client.mutex("orders:42").acquire()), "busy");
  auto other = open_again();
  EXPECT_EQ(code_of(other.adopt("orders:42", "somebody else")), "not_owner");
  auto adopted = ok(other.adopt("orders:42", owner.str()));
  EXPECT_GT(adopted->fence(), 0U);
  EXPECT_TRUE(adopted->valid());
  EXPECT_EQ(adopted->release(), Released::released);
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire()));
  EXPECT_EQ(code_of(other.adopt("nobody's", owner.str())), "not_held");
}

TEST_P(ClientContract, a_detached_lock_that_was_waited_for_stays_held_longer_than_a_claim) {
  auto first = ok(client.mutex("orders:42").acquire());
  auto turn = std::async(std::launch::async, [waiter = open_again()] {
    auto lock = waiter.mutex("orders:42");
    auto lease = lock.acquire({.ttl = 60s, .wait = 60s, .renew = false});
    if (lease) lease->detach();
    return lease.has_value();
  });
  ASSERT_TRUE(has_waiter());
  EXPECT_EQ(first->release(), Released::released);
  ASSERT_TRUE(turn.get());
  // A claim has half a second.
  const auto seen = client.inspect("orders:42");
  ASSERT_TRUE(is_ok(seen));
  ASSERT_EQ(seen->holders.size(), 1U);
  EXPECT_FALSE(seen->holders[0].claimed);
  EXPECT_GT(seen->holders[0].remaining, 30s);
  EXPECT_EQ(code_of(client.mutex("orders:42").acquire()), "busy");
}

TEST_P(ClientContract, a_detached_lock_ends_with_its_ttl) {
  const auto start = now();
  ok(client.mutex("orders:42").acquire({.ttl = 200ms}))->detach();
  ASSERT_TRUE(becomes_free());
  EXPECT_GE(now() - start, 198ms);
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire()));
}

TEST_P(ClientContract, an_adopted_lease_can_be_extended) {
  const auto owner = ok(client.mutex("orders:42").acquire({.ttl = 30s}))->detach();
  auto adopted = ok(client.adopt("orders:42", owner.str()));
  ASSERT_TRUE(is_ok(adopted->extend(60s)));
  EXPECT_GT(adopted->remaining(), 40s);
  EXPECT_GT(client.inspect("orders:42")->holders.at(0).remaining, 40s);
  EXPECT_EQ(code_of(client.mutex("orders:42").acquire()), "busy");
}

TEST_P(ClientContract, the_clock_of_a_store_on_this_machine_is_ours) {
  const auto offset = client.clock_offset();
  ASSERT_TRUE(offset) << offset.error().message;
  EXPECT_LT(std::chrono::abs(*offset), at_most(1s));
}

}  // namespace holdfast::test
