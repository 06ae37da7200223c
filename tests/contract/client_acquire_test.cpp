// SPDX-License-Identifier: Apache-2.0
#include "client_contract.hpp"

namespace holdfast::test {

TEST_P(ClientContract, a_lease_has_a_name_a_fence_an_owner_and_a_time) {
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 10s}));
  EXPECT_EQ(lease->name().str(), "orders:42");
  EXPECT_GT(lease->fence(), 0U);
  EXPECT_EQ(lease->owner().str().size(), 32U);
  EXPECT_TRUE(lease->valid());
  EXPECT_FALSE(lease->lost().stop_requested());
  EXPECT_LT(lease->remaining(), 10s - 100ms) << "the drift must be taken off";
  EXPECT_GT(lease->remaining(), 5s);
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_FALSE(lease->valid());
  EXPECT_EQ(lease->remaining(), 0s);
}

TEST_P(ClientContract, what_another_holds_is_busy_and_the_message_names_it) {
  auto mine = ok(client.mutex("orders:42").acquire());
  auto theirs = open_again().mutex("orders:42").acquire();
  ASSERT_EQ(code_of(theirs), "busy");
  EXPECT_NE(theirs.error().message.find("orders:42"), std::string::npos);
}

TEST_P(ClientContract, a_try_never_waits_whatever_the_options_say) {
  auto mine = ok(client.mutex("orders:42").acquire());
  const auto start = now();
  EXPECT_EQ(code_of(client.mutex("orders:42").try_acquire({.wait = 60s})), "busy");
  EXPECT_LT(now() - start, at_most(1s));
}

TEST_P(ClientContract, a_lease_that_goes_out_of_scope_is_released) {
  {
    auto lease = ok(client.mutex("orders:42").acquire());
  }
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire()));
}

TEST_P(ClientContract, a_lease_that_was_moved_is_released_once) {
  auto first = ok(client.mutex("orders:42").acquire());
  {
    const Lease moved = std::move(*first);
    EXPECT_TRUE(moved.valid());
    EXPECT_EQ(code_of(client.mutex("orders:42").acquire()), "busy");
  }
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire()));
}

TEST_P(ClientContract, a_lease_that_is_assigned_over_is_released) {
  auto lease = ok(client.mutex("a").acquire());
  *lease = std::move(*ok(client.mutex("b").acquire()));
  EXPECT_TRUE(is_ok(client.mutex("a").acquire()));
  EXPECT_EQ(code_of(client.mutex("b").acquire()), "busy");
}

TEST_P(ClientContract, a_lease_outlives_its_client_and_its_handle) {
  auto lease = [this] {
    return ok(open_again().mutex("orders:42").acquire({.ttl = 60s, .renew_every = 50ms}));
  }();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(gets_renewed(*lease, 3));
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_P(ClientContract, a_second_release_finds_nothing_to_release) {
  auto lease = ok(client.mutex("orders:42").acquire());
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_EQ(code_of(lease->release()), "not_held");
}

TEST_P(ClientContract, a_release_after_the_end_says_that_it_had_expired) {
  auto lease = ok(client.mutex("orders:42").acquire({.ttl = 150ms, .renew = false}));
  ASSERT_TRUE(becomes_free());
  EXPECT_EQ(lease->release(), Released::already_expired);
}

TEST_P(ClientContract, a_release_after_the_end_leaves_the_next_holder_alone) {
  auto old = ok(client.mutex("orders:42").acquire({.ttl = 150ms, .renew = false}));
  ASSERT_TRUE(becomes_free());
  auto next = ok(client.mutex("orders:42").acquire());
  EXPECT_EQ(old->release(), Released::held_by_another);
  EXPECT_TRUE(is_ok(next->extend(10s)));
}

TEST_P(ClientContract, every_lease_has_a_larger_fence_than_the_one_before) {
  Fence last = 0;
  for (int round = 0; round < 20; ++round) {
    auto lease = ok(client.mutex("orders:42").acquire());
    EXPECT_GT(lease->fence(), last);
    last = lease->fence();
    ASSERT_TRUE(is_ok(lease->release()));
  }
}

TEST_P(ClientContract, every_lease_without_an_owner_gets_a_random_one) {
  auto first = ok(client.mutex("a").acquire());
  auto second = ok(client.mutex("b").acquire());
  EXPECT_NE(first->owner(), second->owner());
  auto named = ok(client.mutex("c").acquire({.owner = "worker-7"}));
  EXPECT_EQ(named->owner().str(), "worker-7");
}

TEST_P(ClientContract, the_same_name_as_another_kind_is_a_spec_mismatch) {
  const auto reason = why_not(model::LockSpec::semaphore(3));
  if (!reason.empty()) GTEST_SKIP() << reason;
  auto lease = ok(client.semaphore("orders:42", 3).acquire());
  EXPECT_EQ(code_of(client.mutex("orders:42").acquire()), "spec_mismatch");
  EXPECT_EQ(code_of(client.semaphore("orders:42", 4).acquire()), "spec_mismatch");
  EXPECT_EQ(code_of(client.reentrant("orders:42").acquire({.wait = 60s})), "spec_mismatch");
  EXPECT_TRUE(is_ok(client.semaphore("orders:42", 3).acquire()));
}

TEST_P(ClientContract, holders_say_who_and_where_they_are) {
  auto lease = ok(client.mutex("orders:42").acquire({.note = "nightly report"}));
  const auto seen = client.inspect("orders:42");
  ASSERT_TRUE(is_ok(seen));
  ASSERT_EQ(seen->holders.size(), 1U);
  const auto& metadata = *seen->holders[0].metadata;
  EXPECT_EQ(metadata.note, "nightly report");
  EXPECT_TRUE(metadata.source.starts_with("client_acquire_test.cpp:")) << metadata.source;
  EXPECT_EQ(metadata.process->pid, getpid());
  EXPECT_FALSE(metadata.process->host.empty());
  EXPECT_FALSE(metadata.process->program.empty());
}

}  // namespace holdfast::test
