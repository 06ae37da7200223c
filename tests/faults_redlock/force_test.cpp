// SPDX-License-Identifier: Apache-2.0
//
// An operator takes the lock away from its holder.
#include "faults_redis/faults_fixture.hpp"
#include "faults_redlock/redlock_fixture.hpp"

namespace holdfast::faults {
namespace {

class Forced : public RedlockTest {
 protected:
  const Client holder = open_all();
  const Client operator_ = open_all();
  Dice dice{choose_seed()};

  static testing::AssertionResult is_ended(const Result<std::uint32_t>& leases) {
    if (!leases) return is_ok(leases);
    return *leases == 1 ? testing::AssertionSuccess()
                        : testing::AssertionFailure() << *leases << " leases ended";
  }
};

TEST_F(Forced, release_is_not_undone_by_repair) {
  auto lease = holder.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(is_ended(operator_.force_release("orders", "it hangs")));
  const Stopwatch watch;
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
  EXPECT_LT(watch.time(), at_most(1s));
  // What the holder sent before this has arrived, everywhere.
  auto later = holder.mutex("later").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(later));
  EXPECT_TRUE(eventually([&] { return fences("later") == std::vector<Fence>(5, later->fence()); }));
  EXPECT_EQ(fences("orders"), std::vector<Fence>(5, 0));
  auto next = operator_.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(next));
  EXPECT_GT(next->fence(), lease->fence());
}

TEST_F(Forced, release_of_many_leases_never_gives_one_back) {
  for (int i = 0; i < 15; ++i) {
    // Renewed as often as it can be, so that renewals and the operator meet.
    auto lease = holder.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 20ms});
    ASSERT_TRUE(is_ok(lease));
    dice.rest(0us, 45ms);
    EXPECT_TRUE(is_ended(operator_.force_release("orders", "it hangs")));
    auto next = operator_.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 100ms});
    ASSERT_TRUE(is_ok(next));
    EXPECT_GT(next->fence(), lease->fence());
    EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
    EXPECT_TRUE(next->valid());
    EXPECT_TRUE(is_released(next->release()));
  }
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Forced, release_works_with_members_away) {
  auto lease = holder.mutex("orders").acquire({.ttl = 3s, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  kill({0});
  stop({1});
  EXPECT_TRUE(is_ended(operator_.force_release("orders", "it hangs")));
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
  auto next = operator_.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(next));
  EXPECT_GT(next->fence(), lease->fence());
  cont();
  // It hears what was said meanwhile.
  holder_at(1, "orders");
  EXPECT_TRUE(gets_renewed(*next, 3));
  EXPECT_TRUE(next->valid());
  EXPECT_TRUE(is_released(next->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Forced, release_of_what_nobody_holds_says_so) {
  EXPECT_EQ(code_of(operator_.force_release("orders", "it hangs")), "not_held");
}

}  // namespace
}  // namespace holdfast::faults
