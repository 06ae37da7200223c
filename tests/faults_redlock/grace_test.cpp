// SPDX-License-Identifier: Apache-2.0
//
// Members that were started a short time ago, for clients that never knew them before.
#include "faults_redlock/redlock_fixture.hpp"

namespace holdfast::faults {
namespace {

class Grace : public RedlockTest {
 protected:
  Grace() : RedlockTest(3) {}
};

TEST_F(Grace, takes_the_vote_of_young_members_and_says_so) {
  const auto client = open_all("retries=0&grace=1h");
  // With the second of the three the vote is lost, and one of them may be slow.
  EXPECT_TRUE(eventually([&] {
    const auto lease = client.mutex("orders").try_acquire();
    EXPECT_EQ(code_of(lease), "quorum_not_reached");
    const auto message = message_of(lease);
    std::size_t refusals = 0;
    for (std::size_t at = 0; at < size(); ++at) {
      const auto young = address(at) + " refused (was started a short time ago; counts in 3";
      if (message.contains(young)) ++refusals;
      EXPECT_FALSE(message.contains(address(at) + " granted")) << message;
    }
    return refusals >= 2;
  }));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Grace, is_over_in_time) {
  const Stopwatch watch;
  auto lease = open_all("grace=3s").mutex("orders").acquire({.ttl = 3s, .wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  std::size_t old_enough = 0;
  for (std::size_t at = 0; at < size(); ++at) {
    const auto info = test::RawRedis(server(at)).text({"INFO", "server"});
    const auto uptime = info.substr(info.find("uptime_in_seconds:") + 18);
    if (std::stoi(uptime) >= 3) ++old_enough;
  }
  EXPECT_GE(old_enough, 2U);
  EXPECT_LT(watch.time(), at_most(8s));
}

class GraceWithMemory : public RedlockTest {
 protected:
  GraceWithMemory() : RedlockTest(3, {"--appendonly", "yes", "--appendfsync", "always"}) {}
};

TEST_F(GraceWithMemory, counts_members_at_once) {
  const auto client = open_all("retries=0&grace=1h");
  auto lease = client.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(is_released(lease->release()));
}

TEST_F(GraceWithMemory, keeps_a_lease_over_a_restart_of_all_members) {
  const auto client = open_all();
  auto lease = client.mutex("orders").acquire({.ttl = 30s, .wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  ASSERT_TRUE(
      eventually([&] { return fences("orders") == std::vector<Fence>(3, lease->fence()); }));
  for (std::size_t at = 0; at < size(); ++at) server(at).restart();
  EXPECT_EQ(fences("orders"), std::vector<Fence>(3, lease->fence()));
  const auto other = open_all("retries=0");
  EXPECT_EQ(code_of(decided([&] { return other.mutex("orders").try_acquire(); })), "busy");
  EXPECT_TRUE(lease->valid());
  ASSERT_TRUE(eventually([&] { return client.inspect("orders").has_value(); }));
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

// What is lost in one member after the other is back before the next: nothing is lost at any time.
TEST_F(GraceWithMemory, keeps_a_lease_over_a_rolling_restart) {
  constexpr Micros ttl = 6s;
  const auto client = open_all("grace=30s&timeout=1s");
  const auto survives = [&] {
    auto lease = client.mutex("orders").acquire({.ttl = ttl, .wait = 20s});
    EXPECT_TRUE(is_ok(lease));
    if (!lease) return false;
    const Stopwatch watch;
    for (std::size_t at = 0; at < size(); ++at) {
      server(at).restart();
      const Stopwatch since;
      eventually([&] { return !lease->valid() || since.time() > ttl / 4; });
    }
    eventually([&] { return !lease->valid() || watch.time() > 2 * ttl; });
    return lease->valid() && watch.time() > 2 * ttl && is_released(lease->release());
  };
  // On a machine that stands still for longer than the ttl it takes more than one try.
  EXPECT_TRUE(survives() || survives() || survives());
}

}  // namespace
}  // namespace holdfast::faults
