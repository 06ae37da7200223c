// SPDX-License-Identifier: Apache-2.0
//
// Rate limits under a clock that is set while they count.
#include "rate_fixture.hpp"

namespace holdfast::model {
namespace {

class RateClock : public RateLimitTest {
 protected:
  // A clock that shows `now` while `real` is what has truly passed.
  void pass(Micros time) {
    now += time;
    real += time;
  }
  void set_clock(Micros by) { now += by; }

  StoreTime real{};
};

RateRule rule_of(RateAlgorithm algorithm, std::uint32_t limit, Micros window) {
  return {.algorithm = algorithm, .limit = limit, .window = window};
}

TEST_F(RateClock, one_that_is_set_back_takes_nothing_and_gives_nothing) {
  for (const auto algorithm : algorithms) {
    for (const Micros back : {Micros(1us), Micros(1s), Micros(59s), Micros(61s), Micros(500h)}) {
      state = {};
      now = StoreTime(1000h);
      const auto rule = rule_of(algorithm, 5, 1min);
      const auto before = check(rule, 2);
      set_clock(-back);
      const auto after = peek(rule);
      EXPECT_EQ(after.count, before.count);
      EXPECT_EQ(after.remaining, before.remaining);
      EXPECT_EQ(after.reset_after, before.reset_after);
      EXPECT_EQ(check(rule, 3).remaining, 0U);
      EXPECT_FALSE(check(rule).allowed);
    }
  }
}

TEST_F(RateClock, one_that_is_set_back_keeps_nobody_waiting_for_longer_than_told) {
  for (const auto algorithm : algorithms) {
    state = {};
    now = StoreTime(1000h);
    const auto rule = rule_of(algorithm, 3, 1min);
    check(rule, 3);
    set_clock(-400h);
    const auto told = check(rule);
    ASSERT_FALSE(told.allowed);
    EXPECT_LE(told.retry_after, 1min);
    EXPECT_FALSE(check_at(now + told.retry_after - 1us, rule).allowed);
    pass(told.retry_after);
    EXPECT_TRUE(check(rule).allowed);
    pass(1min);
    EXPECT_TRUE(forgettable(state, now)) << "it must not stay for the 400 hours";
    EXPECT_EQ(check(rule, 3).remaining, 0U);
  }
}

TEST_F(RateClock, one_that_goes_to_and_fro_counts_what_came_in_the_future) {
  for (const auto algorithm : algorithms) {
    state = {};
    now = StoreTime(1000h);
    const auto rule = rule_of(algorithm, 4, 1min);
    check(rule, 4);
    set_clock(1h);
    EXPECT_TRUE(check(rule, 4).allowed) << "nobody can tell this from an hour that passed";
    for (int i = 0; i < 10; ++i) {
      set_clock(-1h);
      EXPECT_FALSE(check(rule).allowed) << i;
      set_clock(30min);
      set_clock(-30min);
      EXPECT_FALSE(check(rule).allowed) << i;
      if (i == 0) {
        // Standing still while it is set back, and running from there.
        EXPECT_TRUE(check_at(now + 1min, rule, 4).allowed);
      }
    }
  }
}

// Only backwards: forwards cannot be told from time that passed.
TEST_F(RateClock, however_often_it_is_set_back_no_window_has_more_than_the_limit) {
  test::Random random;
  for (const std::uint32_t limit : {3U, 50U, 200U}) {
    const auto rule = sliding(limit, 1s);
    state = {};
    now = StoreTime(1000h);
    std::vector<StoreTime> allowed;
    for (int i = 0; i < 5000; ++i) {
      pass(Micros(random.below(2'000'000 / limit)));
      if (random.one_in(20)) set_clock(-Micros(random.below(3'000'000)));
      if (!check(rule).allowed) continue;
      allowed.push_back(real);
      if (allowed.size() <= limit) continue;
      const auto first_of_them = allowed[allowed.size() - 1 - limit];
      ASSERT_GE(real - first_of_them, 1s) << i;
    }
    EXPECT_GT(allowed.size(), 10 * limit) << "and it goes on";
  }
}

TEST_F(RateClock, however_often_it_is_set_back_a_bucket_gives_no_more_than_has_come_back) {
  test::Random random;
  const auto rule = bucket(10, 1s, 4);
  std::uint64_t allowed = 0;
  for (int i = 0; i < 5000; ++i) {
    pass(Micros(random.below(150'000)));
    if (random.one_in(20)) set_clock(-Micros(random.below(3'000'000)));
    if (check(rule).allowed) ++allowed;
    const auto come_back = static_cast<std::uint64_t>(real.time_since_epoch() / 100ms);
    ASSERT_LE(allowed, rule.burst + come_back);
  }
  EXPECT_GT(allowed, 1000U);
}

TEST_F(RateClock, in_the_layouts_of_others_only_the_clock_counts) {
  const auto rule = fixed(2, 60s, RateLayout::n8n);
  check(rule, 2);
  EXPECT_FALSE(check(rule).allowed);
  set_clock(-60s);
  EXPECT_TRUE(check(rule).allowed) << "the other program would count in that window as well";
}

}  // namespace
}  // namespace holdfast::model
