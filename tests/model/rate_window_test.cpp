// SPDX-License-Identifier: Apache-2.0
//
// What each algorithm promises of any stretch of time, over hits that come at random.
#include "rate_fixture.hpp"

namespace holdfast::model {
namespace {

struct Hit {
  StoreTime at;
  std::uint64_t cost;
};
using Hits = std::vector<Hit>;

// What was allowed after `begin`.
std::uint64_t sum_after(const Hits& hits, StoreTime begin) {
  std::uint64_t sum = 0;
  for (auto each = hits.rbegin(); each != hits.rend() && each->at > begin; ++each) {
    sum += each->cost;
  }
  return sum;
}

// Gaps in which some, none or all of a window passes.
Micros some_gap(test::Random& random, const RateRule& rule) {
  const auto window = static_cast<std::size_t>(rule.window.count());
  if (random.one_in(4)) return 0us;
  if (random.one_in(100)) return Micros(random.below(3 * window));
  if (random.one_in(20)) return Micros(random.below(window / 3));
  return Micros(random.below(2 * window / rule.limit + 2));
}

std::uint32_t some_cost(test::Random& random, const RateRule& rule) {
  return random.one_in(10) ? static_cast<std::uint32_t>(1 + random.below(rule.capacity())) : 1;
}

class RateWindow : public RateLimitTest {
 protected:
  void begin_anew() {
    state = {};
    now = StoreTime(1000h);
    hits.clear();
  }
  RateOutcome hit(const RateRule& rule, std::uint32_t cost) {
    const auto outcome = check(rule, cost);
    if (outcome.allowed) hits.push_back({now, cost});
    return outcome;
  }

  test::Random random;
  Hits hits;  // that were allowed
};

TEST_F(RateWindow, around_its_boundary_a_fixed_window_lets_twice_the_limit_through_and_no_other) {
  for (const std::uint32_t limit : {1U, 10U, 60U, 61U, 1000U}) {
    const auto burst_around_the_boundary = [&](const RateRule& rule) {
      begin_anew();
      now += rule.window - 1us;
      const auto before = burst_of(rule);
      now += 2us;
      return before + burst_of(rule);
    };
    EXPECT_EQ(burst_around_the_boundary(fixed(limit, 1min)), 2 * limit);
    EXPECT_EQ(burst_around_the_boundary(sliding(limit, 1min)), limit);
    EXPECT_EQ(burst_around_the_boundary(bucket(limit, 1min)), limit);
  }
}

// Up to 60 hits a sliding window is exact.
TEST_F(RateWindow, a_small_sliding_window_allows_what_fits_into_any_window_and_nothing_else) {
  for (const auto& rule : {sliding(1, 1ms), sliding(7, 1s), sliding(60, 1h)}) {
    begin_anew();
    for (int i = 0; i < 3000; ++i) {
      now += some_gap(random, rule);
      const auto cost = some_cost(random, rule);
      const auto before = sum_after(hits, now - rule.window);
      const auto outcome = hit(rule, cost);
      ASSERT_EQ(outcome.allowed, before + cost <= rule.limit) << i;
      ASSERT_EQ(outcome.count, before + (outcome.allowed ? cost : 0));
    }
  }
}

TEST_F(RateWindow, a_large_sliding_window_never_allows_more_and_errs_by_one_slice_at_most) {
  for (const auto& rule : {sliding(61, 1ms), sliding(100, 1s), sliding(1000, 7777us),
                           sliding(5000, 1h), sliding(61, max_rate_window)}) {
    begin_anew();
    const auto slice = rule.window / limits::rate_slices;
    for (int i = 0; i < 3000; ++i) {
      now += some_gap(random, rule);
      const auto cost = some_cost(random, rule);
      const auto at_least = sum_after(hits, now - rule.window);
      const auto at_most = sum_after(hits, now - rule.window - slice);
      const auto outcome = hit(rule, cost);
      if (outcome.allowed) {
        ASSERT_LE(at_least + cost, rule.limit) << "too many in a window";
      } else {
        ASSERT_GT(at_most + cost, rule.limit) << "denied for what left more than a slice ago";
      }
      ASSERT_LE(state.hits.size(), 128U);
    }
  }
}

// In whole numbers that need no rounding: a token is `window` parts, and `limit` of them come back
// in a microsecond.
TEST_F(RateWindow, a_bucket_allows_exactly_what_has_come_back) {
  for (const auto& rule : {bucket(1, 1ms), bucket(7, 1s), bucket(7, 1s, 3), bucket(1000, 1h),
                           bucket(3, 1min, 40), bucket(333, 9999us)}) {
    begin_anew();
    const auto token = static_cast<std::uint64_t>(rule.window.count());
    std::uint64_t missing = 0;
    for (int i = 0; i < 3000; ++i) {
      const auto gap = some_gap(random, rule);
      now += gap;
      const auto back = static_cast<std::uint64_t>(gap.count()) * rule.limit;
      missing = missing > back ? missing - back : 0;
      const auto cost = some_cost(random, rule);
      const bool fits = missing + cost * token <= rule.capacity() * token;
      if (fits) missing += cost * token;
      const auto outcome = hit(rule, cost);
      ASSERT_EQ(outcome.allowed, fits) << i;
      ASSERT_EQ(outcome.remaining, rule.capacity() - (missing + token - 1) / token);
    }
  }
}

TEST_F(RateWindow, no_window_of_a_bucket_has_more_than_the_limit_and_the_burst) {
  for (const auto& rule : {bucket(10, 1s), bucket(10, 1s, 3), bucket(10, 1s, 50)}) {
    begin_anew();
    for (int i = 0; i < 3000; ++i) {
      now += some_gap(random, rule);
      hit(rule, some_cost(random, rule));
      ASSERT_LE(sum_after(hits, now - rule.window), rule.limit + rule.capacity());
    }
  }
}

// Those who ask for little at once give nothing back to those who ask for much.
TEST_F(RateWindow, callers_with_different_bursts_have_one_bucket_together) {
  const auto patient = bucket(10, 1s, 1);
  const auto hasty = bucket(10, 1s, 50);
  for (int i = 0; i < 3000; ++i) {
    now += some_gap(random, hasty);
    const auto& rule = random.one_in(2) ? patient : hasty;
    hit(rule, random.one_in(4) ? rule.capacity() : 1);
    ASSERT_LE(sum_after(hits, now - 1s), hasty.limit + hasty.capacity()) << i;
    ASSERT_LE(sum_after(hits, now - 10s), 10 * hasty.limit + hasty.capacity()) << i;
  }
}

TEST_F(RateWindow, a_fixed_window_never_has_more_than_its_limit) {
  const auto rule = fixed(9, 1s);
  std::uint64_t in_this_one = 0;
  StoreTime begin{};
  for (int i = 0; i < 3000; ++i) {
    now += some_gap(random, rule);
    const auto this_one = std::chrono::floor<std::chrono::seconds>(now);
    if (this_one != begin) in_this_one = 0;
    begin = this_one;
    const auto cost = some_cost(random, rule);
    const bool fits = in_this_one + cost <= rule.limit;
    if (fits) in_this_one += cost;
    ASSERT_EQ(hit(rule, cost).allowed, fits) << i;
  }
}

RateRule some_rule(test::Random& random, RateAlgorithm algorithm, Micros window) {
  RateRule rule{.algorithm = algorithm,
                .limit = static_cast<std::uint32_t>(1 + random.below(random.one_in(2) ? 20 : 200)),
                .window = window};
  if (algorithm == RateAlgorithm::token_bucket && random.one_in(2)) {
    rule.burst = static_cast<std::uint32_t>(1 + random.below(100));
  }
  return rule;
}

// Whatever the limit was before, and whatever came.
TEST_F(RateWindow, whoever_comes_back_when_told_is_allowed_and_one_microsecond_earlier_denied) {
  for (const auto algorithm : algorithms) {
    for (const Micros window : {Micros(1ms), Micros(1s), Micros(1h)}) {
      begin_anew();
      std::size_t denied = 0;
      auto rule = some_rule(random, algorithm, window);
      for (int i = 0; i < 1500; ++i) {
        if (random.one_in(30)) rule = some_rule(random, algorithm, window);
        now += some_gap(random, rule);
        const auto cost = some_cost(random, rule);
        const auto outcome = check(rule, cost);
        ASSERT_EQ(outcome.retry_after > 0us, !outcome.allowed);
        if (outcome.allowed) continue;
        ++denied;
        ASSERT_FALSE(check_at(now + outcome.retry_after - 1us, rule, cost).allowed) << i;
        ASSERT_TRUE(check_at(now + outcome.retry_after, rule, cost).allowed) << i;
      }
      EXPECT_GT(denied, 50U);
    }
  }
}

TEST_F(RateWindow, what_is_told_of_the_reset_is_when_nothing_counts_any_more) {
  for (const auto algorithm : algorithms) {
    begin_anew();
    auto rule = some_rule(random, algorithm, 1s);
    for (int i = 0; i < 1500; ++i) {
      if (random.one_in(30)) rule = some_rule(random, algorithm, 1s);
      now += some_gap(random, rule);
      const auto outcome = check(rule, some_cost(random, rule));
      ASSERT_GT(outcome.reset_after, 0us);
      auto copy = state;
      ASSERT_GT(step(copy, {Verb::peek, rule}, now + outcome.reset_after - 1us).count, 0U) << i;
      ASSERT_EQ(step(copy, {Verb::peek, rule}, now + outcome.reset_after).count, 0U) << i;
    }
  }
}

// A name is meant for one window. Whoever uses it with many gets no state that cannot be read.
TEST_F(RateWindow, a_name_with_ever_longer_windows_stays_within_what_a_reader_accepts) {
  std::size_t most = 0;
  for (double window = 1000; window < 2.6e12; window *= 1.1) {
    const auto rule = sliding(max_rate_limit, Micros(static_cast<std::int64_t>(window)));
    for (int i = 0; i < 5; ++i, now += rule.window / 60) check(rule);
    most = std::max(most, state.hits.size());
  }
  EXPECT_GT(most, 1000U);
  EXPECT_LE(most, limits::max_rate_hits);
}

}  // namespace
}  // namespace holdfast::model
