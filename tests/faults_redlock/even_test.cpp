// SPDX-License-Identifier: Apache-2.0
//
// Four members: two against two is nobody's.
#include "faults_redlock/redlock_fixture.hpp"

#include <thread>

namespace holdfast::faults {
namespace {

class Even : public RedlockTest {
 protected:
  Even() : RedlockTest(4) {}
};

TEST_F(Even, a_tie_is_lost_and_what_was_granted_is_given_back) {
  const auto client = open_all("retries=0");
  std::vector<Lease> in_the_way;
  for (const std::size_t at : {0, 1}) {
    auto lease = must_open(server(at).url()).mutex("orders", Order::barging).try_acquire();
    ASSERT_TRUE(is_ok(lease));
    in_the_way.push_back(std::move(*lease));
  }
  const auto lease = decided([&] { return client.mutex("orders").try_acquire(); });
  ASSERT_EQ(code_of(lease), "busy") << message_of(lease);
  EXPECT_THAT(message_of(lease), HasSubstr("2 of 4 members"));
  EXPECT_TRUE(eventually([&] {
    const auto seen = fences("orders");
    return seen[0] != 0 && seen[1] != 0 && seen[2] == 0 && seen[3] == 0;
  }));
  in_the_way.clear();
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Even, rivals_that_tie_again_and_again_are_all_served) {
  constexpr int rounds = 15;
  std::atomic<int> served = 0;
  std::vector<std::jthread> rivals;
  for (int i = 0; i < 4; ++i) {
    rivals.emplace_back([this, &served] {
      const auto client = open_all();
      for (int round = 0; round < rounds; ++round) {
        auto lease = client.mutex("orders").acquire({.ttl = 2s, .wait = 20s});
        if (lease && lease->release()) ++served;
      }
    });
  }
  rivals.clear();
  EXPECT_EQ(served, 4 * rounds);
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Even, one_death_is_borne_and_two_are_not) {
  const auto client = open_all("retries=0");
  kill({3});
  auto lease = client.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(is_released(lease->release()));
  kill({0});
  const auto none = client.mutex("orders").try_acquire();
  ASSERT_EQ(code_of(none), "quorum_not_reached");
  EXPECT_THAT(message_of(none), HasSubstr("of 4 members granted it, 3 are needed"));
  EXPECT_EQ(left_behind(), "");
}

}  // namespace
}  // namespace holdfast::faults
