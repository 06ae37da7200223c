// SPDX-License-Identifier: Apache-2.0
#include "support/hand_runtime.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

TEST(HandRuntime, time_passes_only_by_hand) {
  HandRuntime runtime;
  const auto start = runtime.now();
  EXPECT_EQ(runtime.now(), start);
  runtime.advance(3s);
  EXPECT_EQ(runtime.now(), start + 3s);
}

TEST(HandRuntime, timers_run_at_their_own_time_with_posted_jobs_between) {
  HandRuntime runtime;
  const auto start = runtime.now();
  std::vector<std::string> order;
  runtime.schedule(start + 2s, [&] { order.emplace_back("2s"); });
  runtime.schedule(start + 1s, [&] {
    order.emplace_back("1s");
    runtime.post([&] { order.emplace_back("posted"); });
    runtime.schedule(start + 1500ms, [&] {
      EXPECT_EQ(runtime.now(), start + 1500ms);
      order.emplace_back("1.5s");
    });
  });
  runtime.advance(5s);
  EXPECT_EQ(order, (std::vector<std::string>{"1s", "posted", "1.5s", "2s"}));
}

TEST(HandRuntime, a_stall_moves_the_clock_and_makes_timers_late) {
  HandRuntime runtime;
  const auto start = runtime.now();
  runtime::LocalTime ran_at{};
  runtime.schedule(start + 1s, [&] { ran_at = runtime.now(); });
  runtime.stall(10s);
  EXPECT_EQ(ran_at, runtime::LocalTime{});
  runtime.advance(0s);
  EXPECT_EQ(ran_at, start + 10s);
}

TEST(HandRuntime, settles_when_nothing_is_left_and_says_when_it_never_does) {
  HandRuntime runtime;
  runtime.schedule(runtime.now() + 1h, [] {});
  EXPECT_TRUE(runtime.settle());
  std::function<void()> again = [&] { runtime.schedule(runtime.now() + 1min, [&] { again(); }); };
  again();
  EXPECT_FALSE(runtime.settle(1h));
}

TEST(HandRuntime, the_same_seed_gives_the_same_numbers) {
  HandRuntime one(7);
  HandRuntime two(7);
  HandRuntime other(8);
  const auto number = one.random();
  EXPECT_EQ(number, two.random());
  EXPECT_NE(number, other.random());
}

TEST(OtherClock, shows_another_time_at_another_speed) {
  const auto runtime = std::make_shared<HandRuntime>();
  const OtherClock fast(runtime, 5h, 10'000);
  const auto start = fast.now();
  EXPECT_EQ(start, runtime->now() + 5h);
  runtime->advance(100s);
  EXPECT_EQ(fast.now(), start + 101s);
}

}  // namespace
}  // namespace holdfast::test
