// SPDX-License-Identifier: Apache-2.0
//
// Members that come back without their memory.
#include "faults_redlock/redlock_fixture.hpp"

namespace holdfast::faults {
namespace {

class Restart : public RedlockTest {
 protected:
  Client client = open_all("retries=0");

  // Nobody may count on it before each of the servers has been met.
  void meet_all() {
    auto lease = client.mutex("hello").acquire({.wait = 20s});
    ASSERT_TRUE(is_ok(lease));
    ASSERT_TRUE(eventually([&] { return fence_at(4, "hello") != 0 && fence_at(0, "hello") != 0; }));
    ASSERT_TRUE(is_released(lease->release()));
  }
};

TEST_F(Restart, of_one_member_is_repaired_by_the_next_renewals) {
  auto lease = client.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  server(0).restart();
  EXPECT_TRUE(eventually([&] { return fence_at(0, "orders") == lease->fence(); }));
  EXPECT_TRUE(lease->valid());
  EXPECT_FALSE(lease->lost().stop_requested());
  // What was repaired is renewed like the others.
  const auto end = [&] {
    const auto holder = holder_at(0, "orders");
    return SteadyClock::now() + (holder ? holder->remaining : 0us);
  };
  const auto first_end = end();
  EXPECT_TRUE(eventually([&] { return end() > first_end + 250ms; }));
  EXPECT_EQ(fences("orders"), std::vector<Fence>(5, lease->fence()));
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Restart, of_one_member_takes_its_vote_for_a_ttl) {
  meet_all();
  server(0).restart();
  const Stopwatch watch;
  kill({1, 2});
  const auto refused = client.mutex("orders").try_acquire({.ttl = 60s});
  ASSERT_EQ(code_of(refused), "quorum_not_reached") << message_of(refused);
  // Either it is not connected yet, or it says why it is not counted.
  EXPECT_TRUE(eventually([&] {
    const auto lease = client.mutex("orders").try_acquire({.ttl = 60s});
    return message_of(lease).contains(address(0) + " refused (was restarted; counts again in");
  }));
  constexpr Micros ttl = 2s;
  auto lease = client.mutex("orders").acquire({.ttl = ttl, .wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_GE(watch.time(), ttl - 100ms);
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

// Three of five forgot: whoever asks them next may have it.
TEST_F(Restart, of_a_majority_ends_the_lease_promptly) {
  meet_all();
  auto lease = client.mutex("orders").acquire({.ttl = 30s, .wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  kill({0, 1, 2});
  for (const std::size_t at : {0, 1, 2}) server(at).restart();
  const Stopwatch watch;
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
  EXPECT_LT(watch.time(), at_most(6s));
  EXPECT_FALSE(lease->valid());
}

class RestartOfThree : public RedlockTest {
 protected:
  RestartOfThree() : RedlockTest(3) {}
};

TEST_F(RestartOfThree, one_by_one_is_survived_if_each_is_repaired_before_the_next) {
  const Client client = open_all("retries=0");
  constexpr Micros ttl = 1s;
  Fence last = 0;
  const auto survives = [&] {
    auto lease = client.mutex("orders").acquire({.ttl = ttl, .wait = 20s, .renew_every = 100ms});
    EXPECT_TRUE(is_ok(lease));
    if (!lease) return false;
    for (std::size_t at = 0; at < size(); ++at) {
      server(at).restart();
      const Stopwatch watch;
      // It counts again when all that it forgot has ended.
      if (!eventually([&] {
            return !lease->valid() ||
                   (fence_at(at, "orders") == lease->fence() && watch.time() > ttl + 100ms);
          })) {
        return false;
      }
    }
    last = lease->fence();
    return lease->valid() && is_released(lease->release());
  };
  // On a machine that stands still for longer than the ttl it takes more than one try.
  EXPECT_TRUE(eventually(survives));
  auto next = client.mutex("orders").acquire({.ttl = ttl, .wait = 20s});
  ASSERT_TRUE(is_ok(next));
  EXPECT_GT(next->fence(), last) << "every counter began anew meanwhile";
}

}  // namespace
}  // namespace holdfast::faults
