// SPDX-License-Identifier: Apache-2.0
//
// Lines between a client and its members that are slow, or lose what is said.
#include "faults_redlock/redlock_fixture.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::faults {
namespace {

class Lines : public RedlockTest {
 protected:
  Lines() {
    for (const auto port : ports()) lines.push_back(std::make_unique<test::FaultProxy>(port));
  }
  Client open_through(const std::string& options) const {
    std::vector<std::uint16_t> through;
    for (const auto& line : lines) through.push_back(line->port());
    return must_open(redlock_url(through, options));
  }
  void heal() {
    for (const auto& line : lines) line->all_well();
  }

  std::vector<std::unique_ptr<test::FaultProxy>> lines;
};

TEST_F(Lines, that_are_slow_cost_validity) {
  const auto client = open_through("timeout=2s&drift=0.2");
  for (const auto& line : lines) line->delay_replies(150ms);
  constexpr Micros ttl = 60s;
  auto lease = client.mutex("orders").acquire({.ttl = ttl, .wait = 20s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  // Counted from before the question, which took at least one answer.
  EXPECT_LE(lease->remaining(), ttl - ttl / 5 - 150ms);
  EXPECT_GE(lease->remaining(), ttl / 4);
  heal();
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

// A fifth of the ttl is all that a member may think.
TEST_F(Lines, that_are_too_slow_for_the_ttl_get_nothing_and_leave_nothing) {
  const auto client = open_through("timeout=2s&retries=0");
  for (const auto& line : lines) line->delay_replies(150ms);
  const auto lease = client.mutex("orders").try_acquire({.ttl = 300ms});
  EXPECT_EQ(code_of(lease), "quorum_not_reached") << message_of(lease);
  heal();
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Lines, that_lose_the_answers_of_a_minority_do_no_harm) {
  const auto client = open_through("");
  lines[0]->swallow_replies(true);
  lines[3]->swallow_replies(true);
  auto lease = client.mutex("orders").acquire({.ttl = 30s, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(gets_renewed(*lease, 3));
  EXPECT_TRUE(lease->valid());
  EXPECT_TRUE(is_released(lease->release()));
  // Those two heard it, too.
  EXPECT_EQ(left_behind(), "");
}

// All five granted it, and the client knows of two.
TEST_F(Lines, that_lose_the_answers_of_a_majority_leave_nothing_on_the_members) {
  const auto client = open_through("retries=0");
  for (const std::size_t at : {0, 2, 4}) lines[at]->swallow_replies(true);
  const auto lease = client.mutex("orders").try_acquire({.ttl = 30s});
  ASSERT_EQ(code_of(lease), "quorum_not_reached") << message_of(lease);
  heal();
  EXPECT_EQ(left_behind(), "") << "its ttl is 30 s";
}

TEST_F(Lines, that_break_in_the_middle_of_answers_lose_no_lock) {
  const auto client = open_through("");
  Fence last = 0;
  for (std::size_t i = 0; i < 25; ++i) {
    lines[i % 5]->halve_next_reply(i % 2 == 0 ? test::FaultProxy::Ending::close
                                              : test::FaultProxy::Ending::reset);
    lines[(i + 2) % 5]->end_after(i * 7, test::FaultProxy::Ending::reset);
    auto lease = client.mutex("orders").acquire({.wait = 20s});
    ASSERT_TRUE(is_ok(lease)) << i;
    EXPECT_GT(lease->fence(), last);
    last = lease->fence();
    EXPECT_TRUE(is_released(lease->release())) << i;
  }
  heal();
  EXPECT_EQ(left_behind(), "") << "its ttl is 30 s";
}

}  // namespace
}  // namespace holdfast::faults
