// SPDX-License-Identifier: Apache-2.0
#include <holdfast/fence_guard.hpp>

#include "support/running.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

TEST(FenceGate, admits_the_newest_fence_again_and_nothing_older) {
  FenceGate gate;
  EXPECT_EQ(gate.admit(7), (FenceCheck{true, 7}));
  EXPECT_EQ(gate.admit(7), (FenceCheck{true, 7}));
  EXPECT_EQ(gate.admit(6), (FenceCheck{false, 7}));
  EXPECT_EQ(gate.admit(8), (FenceCheck{true, 8}));
  EXPECT_EQ(gate.newest(), 8U);
}

TEST(FenceGate, whoever_has_no_fence_is_refused) {
  FenceGate gate;
  EXPECT_FALSE(gate.admit(0));
  EXPECT_EQ(gate.newest(), 0U);
}

TEST(FenceGate, goes_on_where_it_was) {
  FenceGate gate(7);
  EXPECT_FALSE(gate.admit(6));
  EXPECT_TRUE(gate.admit(7));
}

TEST(FenceGate, a_refused_write_does_not_run) {
  FenceGate gate(7);
  int writes = 0;
  EXPECT_FALSE(gate.write(6, [&] { ++writes; }));
  EXPECT_TRUE(gate.write(7, [&] { ++writes; }));
  EXPECT_EQ(writes, 1);
}

TEST(FenceGate, what_a_write_throws_comes_through_and_its_fence_was_seen) {
  FenceGate gate;
  EXPECT_THROW(gate.write(7, [] { throw std::runtime_error("disk full"); }), std::runtime_error);
  EXPECT_EQ(gate.newest(), 7U);
  EXPECT_TRUE(gate.admit(7)) << "and the gate is not stuck";
}

TEST(FenceGate, writes_of_many_threads_are_in_the_order_of_their_fences) {
  FenceGate gate;
  std::vector<Fence> written;
  {
    std::vector<std::jthread> threads;
    for (Fence first = 1; first <= 4; ++first) {
      threads.emplace_back([&, first] {
        for (Fence fence = first; fence < 4000; fence += 4) {
          gate.write(fence, [&] { written.push_back(fence); });
        }
      });
    }
  }
  ASSERT_FALSE(written.empty());
  EXPECT_TRUE(std::ranges::is_sorted(written));
}

class FenceGuardTest : public testing::Test {
 protected:
  const Client client = value_of(open("memory:fence-guard-test"));
};

TEST_F(FenceGuardTest, is_the_same_for_all_who_open_the_store) {
  const FenceGuard mine(client, "printer");
  const FenceGuard yours(value_of(open("memory:fence-guard-test")), "printer");
  EXPECT_EQ(value_of(mine.check(7)), (FenceCheck{true, 7}));
  EXPECT_EQ(value_of(yours.check(8)), (FenceCheck{true, 8}));
  EXPECT_EQ(value_of(mine.check(7)), (FenceCheck{false, 8}));
  EXPECT_TRUE(value_of(FenceGuard(client, "another").check(1)));
}

TEST_F(FenceGuardTest, takes_the_fences_of_leases) {
  const FenceGuard guard(client, "by leases");
  auto first = value_of(client.mutex("by leases").acquire());
  const auto late = first.fence();
  EXPECT_TRUE(value_of(guard.check(late)));
  value_of(first.release());
  const auto second = value_of(client.mutex("by leases").acquire());
  EXPECT_TRUE(value_of(guard.check(second.fence())));
  EXPECT_FALSE(value_of(guard.check(late)));
}

TEST_F(FenceGuardTest, answers_coroutines_too) {
  const FenceGuard guard(client, "coroutine");
  EXPECT_TRUE(value_of(runtime::run_blocking(guard.async_check(7))));
  EXPECT_EQ(value_of(runtime::run_blocking(guard.async_check(6))), (FenceCheck{false, 7}));
  EXPECT_EQ(error_of(runtime::run_blocking(guard.async_check(0))), Errc::bad_input);
}

TEST_F(FenceGuardTest, a_bad_question_is_refused_by_name_and_remembers_nothing) {
  const FenceGuard guard(client, "untouched");
  EXPECT_EQ(guard.check(0).error().message, "fence: must be at least 1");
  EXPECT_EQ(guard.check(max_guarded_fence + 1).error().message,
            "fence: must be at most 9223372036854775807; got 9223372036854775808");
  EXPECT_EQ(error_of(guard.check(UINT64_MAX)), Errc::bad_input);
  for (const Duration keep : {Duration(0), Duration(1min) - 1us, Duration(24h * 30) + 1us}) {
    const auto checked = FenceGuard(client, "untouched", keep).check(9);
    EXPECT_EQ(error_of(checked), Errc::bad_input);
    EXPECT_TRUE(checked.error().message.starts_with("keep: ")) << checked.error().message;
  }
  for (const auto& name :
       {std::string(), std::string(max_name_bytes + 1, 'x'), std::string("\n")}) {
    const auto checked = FenceGuard(client, name).check(9);
    EXPECT_EQ(error_of(checked), Errc::bad_input);
    EXPECT_TRUE(checked.error().message.starts_with("resource")) << checked.error().message;
  }
  EXPECT_TRUE(value_of(guard.check(1)));
  EXPECT_TRUE(value_of(FenceGuard(client, "largest").check(max_guarded_fence)));
}

}  // namespace
}  // namespace holdfast::test
