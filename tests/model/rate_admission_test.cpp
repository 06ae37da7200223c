// SPDX-License-Identifier: Apache-2.0
//
// What may be asked of a rate limit, and what its name is.
#include "model/limit_name.hpp"
#include "rate_fixture.hpp"

namespace holdfast::model {
namespace {

std::string rate_refusal(const RateCommand& command) {
  const auto checked = admissible(command);
  if (checked) return "none";
  EXPECT_EQ(checked.error().code, Errc::bad_input);
  return checked.error().message;
}
std::string rate_refusal(const RateRule& rule, std::uint32_t cost = 1) {
  return rate_refusal(RateCommand{Verb::check, rule, cost});
}

TEST(RateAdmission, a_limit_has_its_bounds) {
  for (const std::uint32_t good : {1U, 2U, max_rate_limit}) {
    EXPECT_EQ(rate_refusal(sliding(good, 1s)), "none");
  }
  EXPECT_EQ(rate_refusal(sliding(0, 1s)), "limit: must be from 1 to 1000000000; got 0");
  EXPECT_EQ(rate_refusal(sliding(max_rate_limit + 1, 1s)),
            "limit: must be from 1 to 1000000000; got 1000000001");
}

TEST(RateAdmission, a_window_has_its_bounds) {
  for (const Micros good : {min_rate_window, Micros(1234567us), max_rate_window}) {
    EXPECT_EQ(rate_refusal(sliding(5, good)), "none");
  }
  for (const Micros bad : {Micros(0), Micros(-1), min_rate_window - 1us, max_rate_window + 1us,
                           Micros::max(), Micros::min()}) {
    EXPECT_EQ(rate_refusal(sliding(5, bad)), "window: must be from 1ms to 31d; got " +
                                                 std::to_string(bad.count()) + " microseconds");
  }
}

TEST(RateAdmission, only_a_bucket_has_a_burst) {
  EXPECT_EQ(rate_refusal(bucket(5, 1s, 1)), "none");
  EXPECT_EQ(rate_refusal(bucket(5, 1s, max_rate_limit)), "none");
  EXPECT_EQ(rate_refusal(bucket(5, 1s, max_rate_limit + 1)),
            "burst: must be at most 1000000000; got 1000000001");
  for (auto rule : {fixed(5, 1s), sliding(5, 1s)}) {
    rule.burst = 1;
    EXPECT_EQ(rate_refusal(rule), "burst: only a token_bucket has one");
  }
}

TEST(RateAdmission, a_bucket_that_cannot_be_counted_exactly_is_refused) {
  // A token of the first is 2,678,400,000,000 units; 1,681 of them are just below 2^52.
  EXPECT_EQ(rate_refusal(bucket(1681, max_rate_window)), "none");
  EXPECT_TRUE(rate_refusal(bucket(1687, max_rate_window)).starts_with("limit and window: "));
  EXPECT_TRUE(rate_refusal(bucket(1681, max_rate_window, 1682)).starts_with("limit and window: "));
  EXPECT_EQ(rate_refusal(bucket(1687, max_rate_window, 1681)), "none");
  EXPECT_EQ(rate_refusal(sliding(1687, max_rate_window)), "none");
}

TEST(RateAdmission, a_cost_is_at_most_what_can_be_had_at_once) {
  EXPECT_EQ(rate_refusal(sliding(5, 1s), 5), "none");
  EXPECT_EQ(rate_refusal(sliding(5, 1s), 0),
            "cost: must be from 1 to 5, what can be had at once; got 0");
  EXPECT_EQ(rate_refusal(sliding(5, 1s), 6),
            "cost: must be from 1 to 5, what can be had at once; got 6");
  EXPECT_EQ(rate_refusal(bucket(5, 1s, 8), 8), "none");
  EXPECT_TRUE(rate_refusal(bucket(5, 1s, 3), 4).starts_with("cost: must be from 1 to 3"));
  EXPECT_TRUE(rate_refusal({Verb::peek, sliding(5, 1s), 6}).starts_with("cost: "));
  EXPECT_EQ(rate_refusal({Verb::reset, sliding(5, 1s), 0}), "none") << "a reset costs nothing";
}

TEST(RateAdmission, numbers_that_stand_for_no_word_are_refused) {
  auto rule = sliding(5, 1s);
  for (const int number : {0, 4, 255}) {
    rule.algorithm = static_cast<RateAlgorithm>(number);
    EXPECT_EQ(rate_refusal(rule),
              "algorithm: must be fixed_window, sliding_window or token_bucket");
    EXPECT_EQ(rate_refusal({static_cast<Verb>(number), sliding(5, 1s)}),
              "verb: must be check, peek or reset");
  }
  rule = fixed(5, 1s);
  rule.layout = static_cast<RateLayout>(3);
  EXPECT_EQ(rate_refusal(rule), "layout: must be native, n8n or redisx");
}

TEST(RateAdmission, the_layouts_of_others_are_fixed_windows_of_whole_seconds) {
  for (const auto layout : {RateLayout::n8n, RateLayout::redisx}) {
    EXPECT_EQ(rate_refusal(fixed(5, 1s, layout)), "none");
    EXPECT_EQ(rate_refusal(fixed(5, 1500ms, layout)),
              "window: must be whole seconds in another program's layout");
    for (auto rule : {sliding(5, 1s), bucket(5, 1s)}) {
      rule.layout = layout;
      EXPECT_EQ(rate_refusal(rule), "layout: other programs' keys are fixed windows");
    }
  }
}

TEST(RateName, it_tells_algorithms_and_windows_apart_and_nothing_else) {
  const auto name = [](std::string_view scope, const RateRule& rule) {
    return limit_name(scope, rule).value().str();
  };
  EXPECT_EQ(name("user-42", sliding(5, 1s)), "user-42:sliding:1000000us");
  EXPECT_EQ(name("user-42", fixed(5, 1ms)), "user-42:fixed:1000us");
  EXPECT_EQ(name("user-42", bucket(5, 1min, 9)), "user-42:bucket:60000000us");
  EXPECT_EQ(name("user-42", bucket(7, 1min)), name("user-42", bucket(5, 1min, 9)));
  EXPECT_EQ(name("api", fixed(5, 60s, RateLayout::n8n)), "n8n-ratelimit-api:n8n:60000000us");
  EXPECT_EQ(name("api", fixed(5, 60s, RateLayout::redisx)),
            "rl:fixed-window:api:redisx:60000000us");
  // No scope makes one limit of two.
  EXPECT_NE(name("foo:fixed", fixed(5, 60s, RateLayout::n8n)),
            name("n8n-ratelimit-foo", fixed(5, 60s)));
}

TEST(RateName, a_scope_follows_the_rules_of_names_and_leaves_room_for_the_rest) {
  const auto refusal_of = [](std::string_view scope) {
    const auto name = limit_name(scope, fixed(5, max_rate_window, RateLayout::n8n));
    return name ? "none" : name.error().message;
  };
  EXPECT_EQ(refusal_of(std::string(max_scope_bytes, 's')), "none");
  EXPECT_EQ(refusal_of(""), "scope: must have 1 to 400 bytes; got 0");
  EXPECT_EQ(refusal_of(std::string(max_scope_bytes + 1, 's')),
            "scope: must have 1 to 400 bytes; got 401");
  EXPECT_TRUE(refusal_of("a\nb").starts_with("scope: ")) << refusal_of("a\nb");
  EXPECT_TRUE(refusal_of("b\xe4").starts_with("scope: "));
}

TEST(RateName, it_tells_what_it_counts_and_belongs_to_one_rule) {
  const RateRule rules[] = {sliding(5, 1s),
                            sliding(5, 2s),
                            bucket(5, 1s),
                            fixed(5, 1s),
                            fixed(5, 1s, RateLayout::n8n),
                            fixed(5, 1s, RateLayout::redisx)};
  for (const auto& rule : rules) {
    for (const std::string scope : {"a", "a:sliding:1000000us", ":", "n8n-ratelimit-a"}) {
      const auto name = limit_name(scope, rule).value();
      for (const auto& other : rules) {
        const auto counted = counted_under(name, other);
        ASSERT_EQ(counted.has_value(), rule == other) << name.str();
        if (!counted) continue;
        const std::string_view before = rule.layout == RateLayout::n8n      ? "n8n-ratelimit-"
                                        : rule.layout == RateLayout::redisx ? "rl:fixed-window:"
                                                                            : "";
        EXPECT_EQ(*counted, std::string(before) + scope);
      }
    }
  }
  EXPECT_FALSE(counted_under(LockName::make(":sliding:1000000us").value(), sliding(5, 1s)));
}

}  // namespace
}  // namespace holdfast::model
