// SPDX-License-Identifier: Apache-2.0
#include "rate_fixture.hpp"

namespace holdfast::model {
namespace {

RateOutcome allowed(std::uint64_t count, std::uint32_t limit, std::uint32_t remaining,
                    Micros reset) {
  return {.allowed = true,
          .count = count,
          .limit = limit,
          .remaining = remaining,
          .retry_after = {},
          .reset_after = reset};
}
RateOutcome denied(std::uint64_t count, std::uint32_t limit, std::uint32_t remaining, Micros retry,
                   Micros reset) {
  return {.allowed = false,
          .count = count,
          .limit = limit,
          .remaining = remaining,
          .retry_after = retry,
          .reset_after = reset};
}

TEST_F(RateLimitTest, a_fixed_window_counts_from_one_multiple_of_it_to_the_next) {
  const auto rule = fixed(2, 60s);
  now += 10s;
  EXPECT_EQ(check(rule), allowed(1, 2, 1, 50s));
  now += 49s;
  EXPECT_EQ(check(rule), allowed(2, 2, 0, 1s));
  EXPECT_EQ(check(rule), denied(2, 2, 0, 1s, 1s));
  EXPECT_EQ(peek(rule), denied(2, 2, 0, 1s, 1s));
  now += 1s;
  EXPECT_EQ(peek(rule), allowed(0, 2, 2, 0s));
  EXPECT_EQ(check(rule), allowed(1, 2, 1, 60s));
}

TEST_F(RateLimitTest, a_sliding_window_gives_each_hit_back_a_window_later) {
  const auto rule = sliding(2, 60s);
  now += 10s;
  EXPECT_EQ(check(rule), allowed(1, 2, 1, 60s));
  now += 49s;
  EXPECT_EQ(check(rule), allowed(2, 2, 0, 60s));
  EXPECT_EQ(check(rule), denied(2, 2, 0, 11s, 60s));
  now += 11s;
  EXPECT_EQ(peek(rule), allowed(1, 2, 1, 49s));
  EXPECT_EQ(check(rule), allowed(2, 2, 0, 60s));
  EXPECT_EQ(check(rule), denied(2, 2, 0, 49s, 60s));
}

TEST_F(RateLimitTest, a_bucket_gives_a_token_back_every_window_divided_by_the_limit) {
  const auto rule = bucket(2, 60s, 3);
  EXPECT_EQ(check(rule), allowed(1, 3, 2, 30s));
  EXPECT_EQ(check(rule, 2), allowed(3, 3, 0, 90s));
  EXPECT_EQ(check(rule), denied(3, 3, 0, 30s, 90s));
  EXPECT_EQ(check(rule, 2), denied(3, 3, 0, 60s, 90s));
  now += 29s;
  EXPECT_EQ(peek(rule), denied(3, 3, 0, 1s, 61s));
  now += 1s;
  EXPECT_EQ(peek(rule), allowed(2, 3, 1, 60s));
  EXPECT_EQ(check(rule), allowed(3, 3, 0, 90s));
  now += 90s;
  EXPECT_EQ(peek(rule), allowed(0, 3, 3, 0s));
}

TEST_F(RateLimitTest, the_first_check_of_a_name_finds_everything_there) {
  for (const auto algorithm : algorithms) {
    state = {};
    const RateRule rule{.algorithm = algorithm, .limit = 5, .window = 1s};
    EXPECT_EQ(peek(rule, 5), allowed(0, 5, 5, 0s));
    EXPECT_TRUE(check(rule, 5).allowed);
    EXPECT_FALSE(check(rule).allowed);
  }
}

TEST_F(RateLimitTest, a_cost_is_had_as_a_whole_or_not_at_all) {
  for (const auto algorithm : algorithms) {
    state = {};
    const RateRule rule{.algorithm = algorithm, .limit = 10, .window = 1h};
    EXPECT_EQ(check(rule, 7).remaining, 3U);
    const auto before = state;
    EXPECT_FALSE(check(rule, 4).allowed);
    EXPECT_EQ(state, before) << "what is denied takes nothing";
    EXPECT_EQ(check(rule, 3).remaining, 0U);
  }
}

TEST_F(RateLimitTest, in_the_layouts_of_others_what_is_denied_counts_too) {
  for (const auto layout : {RateLayout::n8n, RateLayout::redisx}) {
    state = {};
    const auto rule = fixed(2, 60s, layout);
    check(rule, 2);
    EXPECT_EQ(check(rule), denied(3, 2, 0, 60s, 60s));
    EXPECT_EQ(check(rule), denied(4, 2, 0, 60s, 60s));
    EXPECT_EQ(peek(rule), denied(4, 2, 0, 60s, 60s)) << "whoever looks does not count";
    EXPECT_TRUE(check_at(now + 60s, rule).allowed);
  }
}

TEST_F(RateLimitTest, looking_changes_nothing) {
  test::Random random;
  for (const auto algorithm : algorithms) {
    state = {};
    const RateRule rule{.algorithm = algorithm, .limit = 100, .window = 1s};
    for (int i = 0; i < 300; ++i) {
      now += Micros(random.below(20'000)) - 1ms;
      const auto cost = static_cast<std::uint32_t>(1 + random.below(100));
      const auto before = state;
      const auto seen = peek(rule, cost);
      ASSERT_EQ(state, before);
      ASSERT_EQ(check(rule, cost).allowed, seen.allowed);
    }
  }
}

TEST_F(RateLimitTest, a_reset_forgets_everything) {
  for (const auto algorithm : algorithms) {
    const RateRule rule{.algorithm = algorithm, .limit = 5, .window = 1h};
    check(rule, 5);
    EXPECT_EQ(reset(rule), allowed(0, 5, 5, 0s));
    EXPECT_TRUE(forgettable(state, now));
    EXPECT_EQ(state, RateState{});
    EXPECT_TRUE(check(rule, 5).allowed);
  }
}

TEST_F(RateLimitTest, it_is_forgotten_when_nothing_counts_any_more) {
  for (const auto algorithm : algorithms) {
    state = {};
    EXPECT_TRUE(forgettable(state, now));
    const RateRule rule{.algorithm = algorithm, .limit = 4, .window = 1min};
    now += 17s;
    const auto end = now + check(rule, 2).reset_after;
    EXPECT_FALSE(forgettable(state, end - 1us));
    EXPECT_TRUE(forgettable(state, end));
    EXPECT_GT(step(state, {Verb::peek, rule}, end - 1us).count, 0U);
    EXPECT_EQ(step(state, {Verb::peek, rule}, end).count, 0U);
    EXPECT_LE(end - now, 1min);
  }
}

TEST_F(RateLimitTest, a_denied_check_keeps_nothing_alive) {
  for (const auto algorithm : algorithms) {
    state = {};
    const RateRule rule{.algorithm = algorithm, .limit = 1, .window = 1min};
    const auto end = now + check(rule).reset_after;
    now = end - 1us;
    EXPECT_FALSE(check(rule).allowed);
    EXPECT_TRUE(forgettable(state, end));
  }
}

TEST_F(RateLimitTest, a_larger_limit_holds_at_once) {
  for (const auto algorithm : algorithms) {
    state = {};
    RateRule rule{.algorithm = algorithm, .limit = 10, .window = 1h};
    check(rule, 10);
    rule.limit = 20;
    EXPECT_EQ(check(rule, 10).remaining, 0U);
    EXPECT_FALSE(check(rule).allowed);
  }
}

TEST_F(RateLimitTest, a_smaller_limit_denies_until_what_came_has_left) {
  RateRule rule = sliding(10, 1h);
  for (int i = 0; i < 10; ++i, now += 1min) check(rule);
  rule.limit = 3;
  const auto told = check(rule);
  EXPECT_EQ(told, denied(10, 3, 0, 57min, 59min)) << "eight of them must leave first";
  EXPECT_FALSE(check_at(now + told.retry_after - 1us, rule).allowed);
  EXPECT_TRUE(check_at(now + told.retry_after, rule).allowed);
}

TEST_F(RateLimitTest, a_smaller_burst_denies_until_what_came_has_come_back) {
  check(bucket(60, 1h, 100), 100);
  const auto rule = bucket(60, 1h, 10);
  const auto told = check(rule);
  EXPECT_EQ(told, denied(100, 10, 0, 91min, 100min));
  EXPECT_FALSE(check_at(now + 91min - 1us, rule).allowed);
  EXPECT_TRUE(check_at(now + 91min, rule).allowed);
  now += 91min;
  check(rule);
  EXPECT_EQ(peek(bucket(60, 1h, 100)).remaining, 90U) << "nothing was given back for it";
}

TEST_F(RateLimitTest, a_bucket_that_is_emptier_than_another_rule_can_count_is_just_empty) {
  check(bucket(1000, 1s, max_rate_limit), max_rate_limit);
  const auto rule = bucket(7, max_rate_window, 11);
  const auto told = check(rule, 11);
  EXPECT_FALSE(told.allowed);
  EXPECT_EQ(told.remaining, 0U);
  EXPECT_EQ(told.retry_after, Micros(1s) * (max_rate_limit / 1000)) << "when the first rule ends";
}

TEST_F(RateLimitTest, what_a_fast_rule_counted_is_forgotten_when_that_rule_said_so) {
  check(bucket(60, 1h, 1), 1);
  const auto rule = bucket(1, 1h, 1);
  EXPECT_EQ(check(rule), denied(1, 1, 0, 1min, 1min));
  EXPECT_EQ(peek(rule), denied(1, 1, 0, 1min, 1min));
  EXPECT_FALSE(check_at(now + 1min - 1us, rule).allowed);
  EXPECT_TRUE(check_at(now + 1min, rule).allowed);
}

TEST_F(RateLimitTest, a_bucket_whose_units_change_keeps_its_tokens) {
  check(bucket(7, 1h), 3);
  for (const std::uint32_t limit : {11U, 13U, 1'000U, 999'999U, 1U, 7U}) {
    EXPECT_EQ(peek(bucket(limit, 1h, 10)).remaining, 7U) << limit;
  }
  check(bucket(11, 1h, 10), 1);
  EXPECT_EQ(peek(bucket(7, 1h, 10)).remaining, 6U);
  EXPECT_EQ(state.units, 3'600'000'000U) << "11 has nothing in common with an hour";
}

TEST_F(RateLimitTest, a_name_that_is_counted_in_another_way_begins_anew) {
  for (const auto before : algorithms) {
    for (const auto after : algorithms) {
      if (before == after) continue;
      state = {};
      check({.algorithm = before, .limit = 5, .window = 1h}, 5);
      EXPECT_TRUE(check({.algorithm = after, .limit = 5, .window = 1h}, 5).allowed);
      std::string bytes;
      encode(state, bytes);
      EXPECT_EQ(decode_rate(bytes).value(), state) << "nothing is left of the other";
    }
  }
}

TEST_F(RateLimitTest, it_counts_exactly_at_every_bound) {
  constexpr std::uint32_t most = max_rate_limit;
  for (const Micros window : {min_rate_window, Micros(1s), max_rate_window}) {
    for (const RateRule& rule : {fixed(most, window), sliding(most, window), bucket(most, window),
                                 fixed(1, window), sliding(1, window), bucket(1, window)}) {
      SCOPED_TRACE(testing::Message()
                   << to_string(rule.algorithm) << ' ' << rule.limit << ' ' << window.count());
      state = {};
      now = StoreTime(max_rate_window * 700);
      EXPECT_EQ(check(rule, rule.limit).remaining, 0U);
      const auto told = check(rule);
      EXPECT_FALSE(told.allowed);
      EXPECT_EQ(told.count, rule.limit);
      EXPECT_GT(told.retry_after, 0us);
      EXPECT_LE(told.retry_after, window);
      EXPECT_EQ(told.reset_after, window);
      EXPECT_FALSE(check_at(now + told.retry_after - 1us, rule).allowed);
      EXPECT_TRUE(check_at(now + told.retry_after, rule).allowed);
      EXPECT_FALSE(check_at(now + window - 1us, rule, rule.limit).allowed);
      EXPECT_TRUE(check_at(now + window, rule, rule.limit).allowed);
    }
  }
}

TEST_F(RateLimitTest, a_bucket_of_a_slow_rate_and_the_largest_burst_fills_in_centuries) {
  const auto rule = bucket(1, 1s, max_rate_limit);
  EXPECT_EQ(check(rule, max_rate_limit).remaining, 0U);
  EXPECT_EQ(check(rule, max_rate_limit).retry_after, Micros(1s) * max_rate_limit);
  now += Micros(1s) * (max_rate_limit - 1);
  EXPECT_EQ(peek(rule).remaining, max_rate_limit - 1);
}

}  // namespace
}  // namespace holdfast::model
