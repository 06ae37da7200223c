// SPDX-License-Identifier: Apache-2.0
#include "model/fence_guard.hpp"

#include "support/random_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::model {
namespace {

using namespace std::chrono_literals;

constexpr StoreTime start{1000h};

class FenceGuard : public testing::Test {
 protected:
  GuardOutcome check(Fence fence, Micros keep = limits::default_guard_keep) {
    return step(state, {.fence = fence, .keep = keep}, now);
  }

  GuardState state;
  StoreTime now = start;
};

TEST_F(FenceGuard, the_first_fence_is_accepted) {
  EXPECT_EQ(check(7), (GuardOutcome{.accepted = true, .newest = 7}));
}

TEST_F(FenceGuard, the_same_fence_is_accepted_again_since_its_holder_may_write_twice) {
  check(7);
  EXPECT_EQ(check(7), (GuardOutcome{.accepted = true, .newest = 7}));
}

TEST_F(FenceGuard, an_older_fence_is_refused_and_told_the_newest) {
  check(7);
  EXPECT_EQ(check(6), (GuardOutcome{.accepted = false, .newest = 7}));
  EXPECT_EQ(check(1), (GuardOutcome{.accepted = false, .newest = 7}));
  EXPECT_TRUE(check(7).accepted);
}

TEST_F(FenceGuard, a_newer_fence_shuts_out_the_one_before_it) {
  check(7);
  EXPECT_EQ(check(UINT64_MAX), (GuardOutcome{.accepted = true, .newest = UINT64_MAX}));
  EXPECT_EQ(check(UINT64_MAX - 1), (GuardOutcome{.accepted = false, .newest = UINT64_MAX}));
}

TEST_F(FenceGuard, it_is_forgotten_when_nothing_was_accepted_for_as_long_as_asked) {
  check(7, 1h);
  now += 1h - 1us;
  EXPECT_FALSE(forgettable(state, now));
  EXPECT_FALSE(check(6, 1h).accepted);
  now += 1us;
  EXPECT_TRUE(forgettable(state, now)) << "a refused check keeps nothing alive";
  EXPECT_EQ(check(3, 1h), (GuardOutcome{.accepted = true, .newest = 3}));
}

TEST_F(FenceGuard, every_accepted_check_keeps_it_for_as_long_as_it_asks) {
  check(7, 2h);
  now += 1h;
  check(7, 1h);
  EXPECT_EQ(state.expires, now + 1h);
  check(8, 30min);
  EXPECT_EQ(state.expires, now + 30min);
}

TEST_F(FenceGuard, a_repeated_fence_changes_nothing_while_seven_eighths_of_its_time_are_left) {
  check(7, 8h);
  const auto before = state.expires;
  now += 1h;
  EXPECT_EQ(check(7, 8h), (GuardOutcome{.accepted = true, .newest = 7}));
  EXPECT_EQ(state.expires, before);
  now += 1us;
  EXPECT_TRUE(check(7, 8h).accepted);
  EXPECT_EQ(state.expires, now + 8h);
  check(8, 8h);
  now += 1us;
  check(9, 8h);
  EXPECT_EQ(state.expires, now + 8h) << "a newer fence has its whole time";
}

TEST_F(FenceGuard, a_repeated_fence_that_asks_for_longer_is_kept_for_longer) {
  check(7, 1h);
  check(7, 2h);
  EXPECT_EQ(state.expires, now + 2h);
  check(7, 1h);
  EXPECT_EQ(state.expires, now + 2h) << "whoever asks for less takes nothing away";
}

TEST_F(FenceGuard, what_was_accepted_never_goes_back) {
  test::Random random;
  Fence last = 0;
  for (int i = 0; i < 10'000; ++i) {
    now += Micros(random.below(1'000'000));
    const Fence fence = 1 + random.below(1000) + static_cast<Fence>(i) / 20;
    const auto outcome = check(fence);
    EXPECT_EQ(outcome.accepted, fence >= last);
    last = std::max(last, fence);
    ASSERT_EQ(outcome.newest, last);
  }
}

TEST_F(FenceGuard, a_fence_of_0_and_a_keep_out_of_range_are_refused_by_name) {
  EXPECT_EQ(admissible(GuardCommand{.fence = 0}).error().message, "fence: must be at least 1");
  EXPECT_EQ(admissible(GuardCommand{.fence = 0}).error().code, Errc::bad_input);
  EXPECT_TRUE(admissible(GuardCommand{.fence = 1}));
  EXPECT_TRUE(admissible(GuardCommand{.fence = UINT64_MAX}));
  for (const Micros keep : {Micros(1min), Micros(24h * 30)}) {
    EXPECT_TRUE(admissible(GuardCommand{.fence = 1, .keep = keep})) << keep.count();
  }
  for (const Micros keep : {Micros(0), Micros(-1), Micros(1min) - 1us, Micros(24h * 30) + 1us,
                            Micros::max(), Micros::min()}) {
    const auto checked = admissible(GuardCommand{.fence = 1, .keep = keep});
    ASSERT_FALSE(checked) << keep.count();
    EXPECT_EQ(checked.error().code, Errc::bad_input);
    EXPECT_TRUE(checked.error().message.starts_with("keep: ")) << checked.error().message;
  }
}

TEST_F(FenceGuard, a_state_survives_the_round_trip) {
  test::Random random;
  for (int i = 0; i < 1000; ++i) {
    state = {.newest = random.bits() | 1U, .expires = StoreTime(Micros(random.bits() >> 5U))};
    std::string bytes = "left over";
    encode(state, bytes);
    EXPECT_EQ(bytes.size(), 17U);
    const auto again = decode_guard(bytes);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->newest, state.newest);
    EXPECT_EQ(again->expires, state.expires);
  }
}

TEST_F(FenceGuard, bytes_that_are_none_are_refused_with_the_reason) {
  check(7);
  std::string good;
  encode(state, good);
  const auto refusal = [](const std::string& bytes) {
    const auto state = decode_guard(bytes);
    return state ? "none" : state.error().message;
  };
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_EQ(refusal(good.substr(0, size)), "the stored fence guard is not 17 bytes long");
  }
  EXPECT_EQ(refusal(""), "the stored fence guard has no valid format number");
  EXPECT_EQ(refusal(good + "x"), "the stored fence guard is not 17 bytes long");
  EXPECT_EQ(refusal("\x02" + good.substr(1)),
            "the stored fence guard was written in a newer format than this version reads");
  auto without_fence = good;
  std::fill_n(without_fence.begin() + 1, 8, '\0');
  EXPECT_EQ(refusal(without_fence), "the stored fence guard has no fence");
  auto too_late = good;
  too_late[16] = 0x7f;
  EXPECT_EQ(refusal(too_late), "the stored fence guard has a time out of range");
}

}  // namespace
}  // namespace holdfast::model
