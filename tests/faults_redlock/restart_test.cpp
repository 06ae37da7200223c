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
    auto lease = client.mutex("hello").acquire({.ttl = 4s, .wait = 20s});
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

// However short the lease is to be: what the member forgot may have been a long one.
TEST_F(Restart, of_one_member_takes_its_vote_for_the_grace) {
  constexpr Micros grace = 5s;
  client = open_all("retries=0&grace=5s");
  meet_all();
  const Stopwatch watch;
  server(0).restart();
  kill({1, 2});
  // Either it is not connected yet, or it says why it is not counted.
  EXPECT_TRUE(eventually([&] {
    const auto lease = client.mutex("orders").try_acquire({.ttl = 1s});
    EXPECT_TRUE(!lease || watch.time() >= grace);
    const bool is_over = watch.time() > grace;
    return is_over || message_of(lease).contains(address(0) + " refused (was started a short time");
  }));
  auto lease = client.mutex("orders").acquire({.ttl = 2s, .wait = 40s});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_GE(watch.time(), grace);
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

// One that never knew what was there before.
TEST_F(Restart, of_one_member_takes_its_vote_for_new_clients_too) {
  constexpr Micros grace = 5s;
  client = open_all("retries=0&grace=5s");
  meet_all();
  const Stopwatch watch;
  server(0).restart();
  kill({1, 2});
  auto lease = open_all("grace=5s").mutex("orders").acquire({.ttl = 2s, .wait = 40s});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_GE(watch.time(), grace);
}

TEST_F(Restart, refuses_a_ttl_that_could_be_forgotten_and_granted_again) {
  const auto careful = open_all("grace=5s");
  const auto refused = careful.mutex("orders").try_acquire({.ttl = 6s});
  EXPECT_EQ(code_of(refused), "bad_input");
  EXPECT_THAT(message_of(refused), HasSubstr("6s is longer than grace, 5s, and 5 of 5 members"));
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
  const Client client = open_all("retries=0&grace=3s");
  constexpr Micros ttl = 2s;
  Fence last = 0;
  const auto survives = [&] {
    auto lease = client.mutex("orders").acquire({.ttl = ttl, .wait = 20s, .renew_every = 100ms});
    EXPECT_TRUE(is_ok(lease));
    if (!lease) return false;
    for (std::size_t at = 0; at < size(); ++at) {
      server(at).restart();
      // It grants nothing new for a while, but what it has again it renews.
      const auto repaired = [&] { return fence_at(at, "orders") == lease->fence(); };
      if (!eventually([&] { return !lease->valid() || repaired(); })) return false;
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
