// SPDX-License-Identifier: Apache-2.0
//
// Rate limits on every store that has them: what the model's own tests say, atomically, by the
// store's clock and beside the locks. Windows are so long that no machine is too slow for them.
#include "store_contract.hpp"

#include <algorithm>

namespace holdfast::test {

using model::RateCommand;
using RateVerb = RateCommand::Verb;

namespace {

constexpr Micros margin = 5min;

RateRule sliding(std::uint32_t limit, Micros window = 24h) {
  return {.algorithm = RateAlgorithm::sliding_window, .limit = limit, .window = window};
}
RateRule bucket(std::uint32_t limit, std::uint32_t burst, Micros window = 24h) {
  return {
      .algorithm = RateAlgorithm::token_bucket, .limit = limit, .window = window, .burst = burst};
}
RateRule fixed(std::uint32_t limit, Micros window, RateLayout layout = RateLayout::native) {
  return {.algorithm = RateAlgorithm::fixed_window,
          .limit = limit,
          .window = window,
          .burst = 0,
          .layout = layout};
}

RateCommand hit(const RateRule& rule, std::uint32_t cost = 1) {
  return {RateVerb::check, rule, cost};
}
RateCommand peek(const RateRule& rule, std::uint32_t cost = 1) {
  return {RateVerb::peek, rule, cost};
}
RateCommand reset(const RateRule& rule) { return {RateVerb::reset, rule}; }

void expect_counts(const RateOutcome& outcome, std::uint64_t count, std::uint32_t remaining,
                   std::uint32_t limit) {
  EXPECT_EQ(outcome.count, count);
  EXPECT_EQ(outcome.remaining, remaining);
  EXPECT_EQ(outcome.limit, limit);
  EXPECT_EQ(outcome.reset_after > 0us, count > 0);
}

class RateContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    const auto why = store ? why_no_rate_limits() : std::string();
    if (!why.empty()) GTEST_SKIP() << why;
  }

  // A rule whose window does not end while a test runs, whatever the clock says.
  RateRule lasting(std::uint32_t limit, RateLayout layout = RateLayout::native) {
    // Windows begin at multiples of their length: two of them may end in the same minute.
    for (auto window = 16h; window <= 25h; ++window) {
      const auto rule = fixed(limit, window, layout);
      const auto left = rate(hit(rule), "which window").reset_after;
      if (left > margin) return rule;
    }
    ADD_FAILURE() << "all windows end at once";
    return fixed(limit, 24h, layout);
  }
  std::vector<RateRule> rules_with_three() {
    return {lasting(3), sliding(3), bucket(3, 0), bucket(60, 3)};
  }
};

TEST_P(RateContract, a_limit_lets_so_many_through_and_then_says_when_to_come_back) {
  for (const auto& rule : rules_with_three()) {
    SCOPED_TRACE(to_string(rule.algorithm));
    rate(reset(rule));
    expect_counts(rate(peek(rule)), 0, 3, 3);
    for (std::uint32_t nth = 1; nth <= 3; ++nth) {
      const auto outcome = rate(hit(rule));
      EXPECT_TRUE(outcome.allowed);
      EXPECT_EQ(outcome.retry_after, 0us);
      expect_counts(outcome, nth, 3 - nth, 3);
    }
    for (const auto& again : {hit(rule), peek(rule), hit(rule)}) {
      const auto outcome = rate(again);
      EXPECT_FALSE(outcome.allowed);
      EXPECT_GT(outcome.retry_after, 0us);
      EXPECT_LE(outcome.retry_after, rule.window);
      EXPECT_LE(outcome.reset_after, rule.window);
      expect_counts(outcome, 3, 0, 3);
    }
  }
}

TEST_P(RateContract, the_times_that_are_told_follow_from_the_rule) {
  const auto within = [](Micros told, Micros rule) { return told <= rule && told > rule - margin; };
  rate(hit(sliding(2), 2), "s");
  const auto of_window = rate(hit(sliding(2)), "s");
  EXPECT_TRUE(within(of_window.retry_after, 24h)) << of_window.retry_after.count();
  EXPECT_TRUE(within(of_window.reset_after, 24h)) << of_window.reset_after.count();
  rate(hit(bucket(2, 4), 4), "b");
  const auto of_bucket = rate(hit(bucket(2, 4), 2), "b");
  EXPECT_TRUE(within(of_bucket.retry_after, 24h)) << of_bucket.retry_after.count();
  EXPECT_TRUE(within(of_bucket.reset_after, 48h)) << of_bucket.reset_after.count();
}

TEST_P(RateContract, a_cost_is_had_as_a_whole_or_not_at_all) {
  for (const auto& rule : rules_with_three()) {
    rate(reset(rule));
    expect_counts(rate(hit(rule, 2)), 2, 1, 3);
    EXPECT_FALSE(rate(hit(rule, 2)).allowed);
    EXPECT_FALSE(rate(peek(rule, 3)).allowed);
    EXPECT_TRUE(rate(peek(rule, 1)).allowed);
    expect_counts(rate(hit(rule, 1)), 3, 0, 3);
  }
}

TEST_P(RateContract, a_reset_gives_everything_back) {
  for (const auto& rule : rules_with_three()) {
    rate(reset(rule));
    rate(hit(rule, 3));
    const auto outcome = rate(reset(rule));
    EXPECT_TRUE(outcome.allowed);
    expect_counts(outcome, 0, 3, 3);
    EXPECT_TRUE(rate(hit(rule, 3)).allowed);
    rate(reset(rule));
    expect_counts(rate(reset(rule)), 0, 3, 3);
  }
}

TEST_P(RateContract, the_limit_may_change_from_one_check_to_the_next) {
  rate(hit(sliding(3), 3));
  expect_counts(rate(hit(sliding(10), 5)), 8, 2, 10);
  expect_counts(rate(peek(sliding(4))), 8, 0, 4);
  rate(hit(bucket(3, 0), 3));
  expect_counts(rate(hit(bucket(7, 10), 5)), 8, 2, 10);
  expect_counts(rate(peek(bucket(7, 4))), 8, 0, 4);
}

TEST_P(RateContract, other_programs_layouts_count_what_they_deny) {
  for (const auto layout : {RateLayout::n8n, RateLayout::redisx}) {
    const auto rule = lasting(2, layout);
    rate(hit(rule, 2));
    for (std::uint64_t count = 3; count < 6; ++count) {
      const auto outcome = rate(hit(rule));
      EXPECT_FALSE(outcome.allowed);
      expect_counts(outcome, count, 0, 2);
    }
    expect_counts(rate(peek(rule)), 5, 0, 2);
    expect_counts(rate(reset(rule)), 0, 2, 2);
    EXPECT_TRUE(rate(hit(rule)).allowed);
  }
}

TEST_P(RateContract, scopes_algorithms_and_windows_have_limits_of_their_own) {
  const std::string longest(max_scope_bytes, 's');
  for (const std::string& scope : {longest, longest.substr(1) + "t", std::string("a"),
                                   std::string("{a}"), std::string("gr\xc3\xbc\xc3\x9f dich")}) {
    for (const auto& rule :
         {sliding(1), sliding(1, 25h), bucket(1, 0), bucket(1, 0, 25h), lasting(1)}) {
      EXPECT_TRUE(rate(hit(rule), scope).allowed) << scope;
      EXPECT_FALSE(rate(hit(rule), scope).allowed) << scope;
    }
  }
}

TEST_P(RateContract, the_largest_numbers_come_back_as_they_are) {
  constexpr std::uint32_t most = max_rate_limit;
  for (const auto& rule : {sliding(most), bucket(most, most), lasting(most)}) {
    const auto all = rule.algorithm == RateAlgorithm::fixed_window ? most - 1 : most;
    expect_counts(rate(hit(rule, all), "which window"), most, 0, most);
    // The bucket gets thousands back in a second.
    if (rule.algorithm == RateAlgorithm::token_bucket) continue;
    EXPECT_FALSE(rate(hit(rule), "which window").allowed);
  }
}

TEST_P(RateContract, a_limit_and_a_lock_of_the_same_name_do_not_meet) {
  const auto name = model::limit_name("api", sliding(1)).value().str();
  rate(hit(sliding(1)));
  EXPECT_TRUE(names_listed("").empty());
  EXPECT_TRUE(inspect(name).holders.empty());
  granted(acquire({.owner = "anna"}, name));
  EXPECT_FALSE(rate(hit(sliding(1))).allowed);
  EXPECT_EQ(check(7, name), (model::GuardOutcome{.accepted = true, .newest = 7}));
  rate(reset(sliding(1)));
  EXPECT_EQ(inspect(name).holders.size(), 1U);
  EXPECT_TRUE(rate(hit(sliding(1))).allowed);
}

TEST_P(RateContract, bad_rules_are_refused_at_the_border_and_change_nothing) {
  struct Bad {
    RateCommand command;
    std::string_view field;
  };
  auto burst_of_none = sliding(3);
  burst_of_none.burst = 1;
  auto foreign = sliding(3);
  foreign.layout = RateLayout::n8n;
  const Bad all[] = {{hit(sliding(0)), "limit: "},
                     {hit(sliding(max_rate_limit + 1)), "limit: "},
                     {hit(sliding(3, 0s)), "window: "},
                     {hit(sliding(3, -1us)), "window: "},
                     {hit(sliding(3, max_rate_window + 1us)), "window: "},
                     {hit(sliding(3), 0), "cost: "},
                     {hit(sliding(3), 4), "cost: "},
                     {peek(sliding(3), 4), "cost: "},
                     {reset(sliding(0)), "limit: "},
                     {hit(burst_of_none), "burst: "},
                     {hit(bucket(3, max_rate_limit + 1)), "burst: "},
                     {hit(bucket(1687, 0, max_rate_window)), "limit and window: "},
                     {hit(foreign), "layout: "},
                     {hit(fixed(3, 1500ms, RateLayout::redisx)), "window: "}};
  rate(hit(sliding(3)));
  for (const auto& [command, field] : all) {
    store::Request request{.name = model::limit_name("api", sliding(3)).value(),
                           .command = command,
                           .deadline = soon()};
    const auto reply = runtime::run_blocking(store->apply(std::move(request)));
    ASSERT_FALSE(reply.has_value()) << field;
    EXPECT_EQ(reply.error().code, Errc::bad_input);
    EXPECT_TRUE(reply.error().message.starts_with(field)) << reply.error().message;
  }
  expect_counts(rate(peek(sliding(3))), 1, 2, 3);
}

TEST_P(RateContract, what_was_counted_is_the_same_for_everybody_who_opens_the_store) {
  for (const auto& rule : rules_with_three()) rate(hit(rule, 2), "everybody");
  const auto rules = rules_with_three();
  store = open_again();
  ASSERT_NE(store, nullptr);
  expect_counts(rate(peek(rules[1]), "everybody"), 2, 1, 3);
  expect_counts(rate(peek(rules[0]), "everybody"), 2, 1, 3);
}

// The time between two hits is measured around them, so that a slow machine only makes it longer.
TEST_P(RateContract, by_the_stores_clock_a_hit_comes_back_after_the_window_and_not_before) {
  for (const auto& rule : {sliding(1, 100ms), bucket(1, 0, 100ms)}) {
    const auto begin = runtime->now();
    std::int64_t allowed = 0;
    ASSERT_TRUE(eventually([&] {
      const auto outcome = rate(hit(rule));
      if (outcome.allowed) ++allowed;
      EXPECT_LE(outcome.retry_after, 100ms);
      return allowed == 3;
    }));
    // A little less: the store's clock may be another one, which is set a little just now.
    EXPECT_GE(runtime->now() - begin, 195ms);
  }
}

TEST_P(RateContract, threads_that_come_at_once_get_exactly_the_limit) {
  constexpr std::size_t threads = 8;
  constexpr std::uint32_t limit = 50;
  for (const auto& rule : {lasting(limit), sliding(limit), sliding(limit + 50), bucket(limit, 0)}) {
    rate(reset(rule), "crowd");
    std::atomic<std::uint32_t> allowed = 0;
    {
      std::vector<std::jthread> running;
      for (std::size_t thread = 0; thread < threads; ++thread) {
        running.emplace_back([&] {
          for (int i = 0; i < 15; ++i) {
            if (rate(hit(rule), "crowd").allowed) ++allowed;
          }
        });
      }
    }
    EXPECT_EQ(allowed, rule.limit) << to_string(rule.algorithm);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, RateContract, testing::ValuesIn(stores_under_test()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace holdfast::test
