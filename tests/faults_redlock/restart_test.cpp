// SPDX-License-Identifier: Apache-2.0
//
// Members that come back without their memory.
#include "faults_redlock/redlock_fixture.hpp"

namespace holdfast::faults {
namespace {

class Restart : public RedlockTest {
 protected:
  Client client = open_all("retries=0");

  Micros remaining_at(std::size_t at, const std::string& name) {
    const auto seen = must_open(server(at).url()).inspect(name);
    return seen && !seen->holders.empty() ? seen->holders.front().remaining : Micros(0);
  }
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
  const auto end = [&] { return SteadyClock::now() + remaining_at(0, "orders"); };
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

TEST_F(Restart, of_all_members_one_by_one_is_survived_if_each_is_repaired_before_the_next) {
  auto lease = client.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  for (std::size_t at = 0; at < size(); ++at) {
    server(at).restart();
    ASSERT_TRUE(eventually([&] { return fence_at(at, "orders") == lease->fence(); })) << at;
    // It counts from the next renewal on, and that may be under way.
    ASSERT_TRUE(gets_renewed(*lease, 2)) << at;
    ASSERT_TRUE(lease->valid()) << at;
  }
  EXPECT_TRUE(is_released(lease->release()));
  auto next = client.mutex("orders").acquire({.ttl = 2s, .wait = 20s});
  ASSERT_TRUE(is_ok(next));
  EXPECT_GT(next->fence(), lease->fence()) << "every counter began anew meanwhile";
}

}  // namespace
}  // namespace holdfast::faults
