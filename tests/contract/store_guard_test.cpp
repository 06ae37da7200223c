// SPDX-License-Identifier: Apache-2.0
//
// The fence guard on every store: what the model's own tests say, atomically and beside the locks.
#include "store_contract.hpp"

#include <algorithm>
#include <limits>
#include <random>

namespace holdfast::test {

using model::GuardOutcome;

namespace {

GuardOutcome accepted(Fence fence) { return {.accepted = true, .newest = fence}; }
GuardOutcome refused_for(Fence newest) { return {.accepted = false, .newest = newest}; }

}  // namespace

TEST_P(StoreContract, a_guard_accepts_the_first_fence_and_the_same_one_again) {
  EXPECT_EQ(check(1'794'778'200'250'000), accepted(1'794'778'200'250'000));
  EXPECT_EQ(check(1'794'778'200'250'000), accepted(1'794'778'200'250'000));
}

TEST_P(StoreContract, a_guard_refuses_older_fences_and_names_the_newest) {
  check(100);
  EXPECT_EQ(check(99), refused_for(100));
  EXPECT_EQ(check(9), refused_for(100));
  EXPECT_EQ(check(101), accepted(101));
  EXPECT_EQ(check(100), refused_for(101));
  EXPECT_EQ(check(1000), accepted(1000));
  EXPECT_EQ(check(999), refused_for(1000));
}

TEST_P(StoreContract, a_guard_tells_fences_apart_that_differ_in_their_last_bit_only) {
  const Fence edges[] = {Fence{1} << 32U, Fence{1} << 53U, Fence{1} << 63U,
                         std::numeric_limits<Fence>::max() - 1};
  for (const Fence edge : edges) {
    EXPECT_EQ(check(edge - 1), accepted(edge - 1));
    EXPECT_EQ(check(edge), accepted(edge));
    EXPECT_EQ(check(edge - 1), refused_for(edge));
    EXPECT_EQ(check(edge + 1), accepted(edge + 1));
    EXPECT_EQ(check(edge), refused_for(edge + 1));
  }
}

TEST_P(StoreContract, guards_of_different_resources_know_nothing_of_each_other) {
  const std::string longest(max_name_bytes, 'n');
  const std::string other = longest.substr(1) + "m";
  for (const auto& name : {longest, other}) EXPECT_EQ(check(7, name), accepted(7));
  EXPECT_EQ(check(9, longest), accepted(9));
  EXPECT_EQ(check(8, longest), refused_for(9));
  EXPECT_EQ(check(8, other), accepted(8));
  for (const auto* name : {"a", "A", "a}", "{a}", "guard:{a}", "a b", "gr\xc3\xbc\xc3\x9f"}) {
    EXPECT_EQ(check(5, name), accepted(5)) << name;
  }
}

TEST_P(StoreContract, a_guard_and_a_lock_of_the_same_name_do_not_meet) {
  check(100, "orders:42");
  EXPECT_TRUE(names_listed("").empty());
  EXPECT_TRUE(inspect().holders.empty());
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  EXPECT_EQ(check(fence, "orders:42"), accepted(fence));
  EXPECT_EQ(check(100, "orders:42"), refused_for(fence));
  EXPECT_EQ(names_listed(""), std::vector<std::string>{"orders:42"});
  must_be<model::Released>(release("anna"));
  EXPECT_TRUE(names_listed("").empty());
  EXPECT_EQ(check(100, "orders:42"), refused_for(fence)) << "what a lock forgets, a guard keeps";
}

TEST_P(StoreContract, a_holder_that_lost_its_lock_is_refused_once_the_next_one_has_written) {
  const auto first = granted(acquire({.owner = "anna", .ttl = 300ms})).fence;
  EXPECT_EQ(check(first), accepted(first));
  ASSERT_TRUE(becomes_free());
  const auto second = granted(acquire({.owner = "ben"})).fence;
  EXPECT_EQ(check(second), accepted(second));
  EXPECT_EQ(check(first), refused_for(second));
}

TEST_P(StoreContract, bad_checks_are_refused_at_the_border_and_change_nothing) {
  check(100);
  const model::GuardCommand bad[] = {
      {.fence = 0},
      {.fence = 200, .keep = 0s},
      {.fence = 200, .keep = -1us},
      {.fence = 200, .keep = 1min - 1us},
      {.fence = 200, .keep = 24h * 30 + 1us},
      {.fence = 200, .keep = Micros::max()},
  };
  for (const auto& command : bad) {
    const auto reply = send(command, "warehouse");
    ASSERT_FALSE(reply.has_value()) << command.fence << " " << command.keep.count();
    EXPECT_EQ(reply.error().code, Errc::bad_input);
    const auto* field = command.fence == 0 ? "fence: must be at least 1" : "keep: ";
    EXPECT_TRUE(reply.error().message.starts_with(field)) << reply.error().message;
  }
  EXPECT_EQ(check(100), accepted(100));
}

TEST_P(StoreContract, a_guard_is_the_same_for_everybody_who_opens_the_store) {
  check(100);
  store = open_again();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(check(99), refused_for(100));
}

TEST_P(StoreContract, threads_that_check_at_random_leave_the_newest_and_never_see_it_go_back) {
  constexpr std::size_t threads = 8;
  constexpr int rounds = 100;
  std::array<Fence, threads> largest{};
  {
    std::vector<std::jthread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        std::mt19937_64 random(thread);
        GuardOutcome before;
        for (int round = 0; round < rounds; ++round) {
          const Fence fence = 1 + random() % 1000 + static_cast<Fence>(round) * 10;
          largest[thread] = std::max(largest[thread], fence);
          const auto outcome = check(fence);
          EXPECT_EQ(outcome.accepted, outcome.newest == fence);
          EXPECT_GE(outcome.newest, fence);
          EXPECT_GE(outcome.newest, before.newest) << "thread " << thread;
          before = outcome;
        }
      });
    }
  }
  const Fence newest = *std::ranges::max_element(largest);
  EXPECT_EQ(check(1), refused_for(newest));
}

}  // namespace holdfast::test
