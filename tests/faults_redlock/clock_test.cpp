// SPDX-License-Identifier: Apache-2.0
//
// Members whose wall clock is set while they hold something.
#include "faults_redis/wall_clock.hpp"
#include "faults_redlock/redlock_fixture.hpp"

#include <fmt/format.h>

#include <array>

namespace holdfast::faults {
namespace {

class Clock : public RedlockTest, public testing::WithParamInterface<std::chrono::seconds> {
 protected:
  Clock() : RedlockTest(3) {
    for (const WallClock& clock : clocks)
      add(std::make_unique<test::RedisServer>(std::vector<std::string>{}, clock.environment()));
  }

  std::array<WallClock, 2> clocks;  // of the last two servers
};

TEST_P(Clock, that_is_stepped_on_a_minority_lets_nobody_in) {
  const auto ours = open_all("retries=0");
  const auto theirs = open_all("retries=0");
  // Shorter than any of the steps.
  constexpr Micros ttl = 8s;
  auto lease = ours.mutex("orders").acquire({.ttl = ttl, .wait = 20s, .renew_every = 100ms});
  ASSERT_TRUE(is_ok(lease));
  for (WallClock& clock : clocks) {
    clock.step(GetParam());
    for (int i = 0; i < 4; ++i) {
      const auto other =
          decided([&] { return theirs.mutex("orders").acquire({.ttl = ttl, .wait = 100ms}); });
      ASSERT_EQ(code_of(other), "timed_out") << message_of(other);
      ASSERT_TRUE(gets_renewed(*lease));
      ASSERT_TRUE(lease->valid());
    }
  }
  const Micros apart = wall_time(server(4)) - wall_time(server(0));
  EXPECT_NEAR(static_cast<double>(apart.count()), Micros(GetParam()).count(), 5e6)
      << "the clock was not stepped";
  EXPECT_TRUE(is_released(lease->release()));
  auto next = theirs.mutex("orders").acquire({.ttl = 8s, .wait = 20s});
  ASSERT_TRUE(is_ok(next));
  EXPECT_GT(next->fence(), lease->fence());
  EXPECT_TRUE(is_released(next->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_P(Clock, that_is_stepped_between_grants_takes_no_fence_back) {
  const Client clients[] = {open_all(), open_all()};
  Fence last = 0;
  for (std::size_t i = 0; i < 24; ++i) {
    const auto by = i % 4 < 2 ? GetParam() : -GetParam();
    clocks[i % 2].step(by);
    auto lease = clients[i % 2].mutex("orders").acquire({.ttl = 8s, .wait = 20s});
    ASSERT_TRUE(is_ok(lease));
    EXPECT_GT(lease->fence(), last);
    last = lease->fence();
    if (i % 3 == 0) continue;  // The destructor releases, too.
    EXPECT_TRUE(is_ok(lease->release()));
  }
  EXPECT_EQ(left_behind(), "");
}

INSTANTIATE_TEST_SUITE_P(by, Clock, testing::Values(10s, -10s, 3600s, -3600s), [](const auto& by) {
  return fmt::format("{}_{}_s", by.param > 0s ? "plus" : "minus",
                     std::chrono::abs(by.param).count());
});

}  // namespace
}  // namespace holdfast::faults
