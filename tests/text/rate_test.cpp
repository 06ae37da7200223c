// SPDX-License-Identifier: Apache-2.0
#include "text/rate.hpp"

#include "support/random_text.hpp"
#include "text/words.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace holdfast::text {
namespace {

using namespace std::chrono_literals;

struct Case {
  std::string text;
  std::string reason;
};

TEST(Rate, is_a_number_a_slash_and_a_time) {
  const auto expect = [](std::string_view text, std::uint32_t limit, Duration window) {
    const auto rate = parse_rate(text);
    ASSERT_TRUE(rate) << text << ": " << rate.error().message;
    EXPECT_EQ(rate->limit, limit) << text;
    EXPECT_EQ(rate->window, window) << text;
  };
  expect("10/s", 10, 1s);
  expect("10/1s", 10, 1s);
  expect("100/5m", 100, 5min);
  expect("1000/h", 1000, 1h);
  expect("5/100ms", 5, 100ms);
  expect("1/ms", 1, 1ms);
  expect("1000000000/31d", 1'000'000'000, 31 * 24h);
}

TEST(Rate, nothing_else_is_one) {
  for (const auto& [text, reason] : {
           Case{"", "has no slash"},
           Case{"10", "has no slash"},
           Case{"10s", "has no slash"},
           Case{"/s", "does not begin with an integer from 1 to 1000000000"},
           Case{"0/s", "does not begin with an integer"},
           Case{"-1/s", "does not begin with an integer"},
           Case{"+1/s", "does not begin with an integer"},
           Case{" 1/s", "does not begin with an integer"},
           Case{"1.5/s", "does not begin with an integer"},
           Case{"ten/s", "does not begin with an integer"},
           Case{"1000000001/s", "does not begin with an integer"},
           Case{"99999999999999999999/s", "does not begin with an integer"},
           Case{"10/", "has no time behind the slash"},
           Case{"10/10", "does not end with a time"},
           Case{"10/sec", "does not end with a time"},
           Case{"10/-1s", "does not end with a time"},
           Case{"10/1s/2", "does not end with a time"},
           Case{"10 / s", "does not begin with an integer"},
           Case{"10/0s", "has a window that is not from 1ms to 31d"},
           Case{"10/32d", "has a window that is not from 1ms to 31d"},
           Case{std::string("1/s\0", 4), "does not end with a time"},
       }) {
    const auto parsed = parse_rate(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::bad_input);
    const auto& message = parsed.error().message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    EXPECT_NE(message.find("such as 10/s or 100/5m"), std::string::npos) << message;
  }
}

TEST(Rate, is_written_as_it_is_read) {
  for (const auto* text : {"10/s", "100/5m", "1000/h", "5/100ms", "1/ms", "7/d", "3/12h"}) {
    const auto rate = parse_rate(text);
    ASSERT_TRUE(rate);
    EXPECT_EQ(format_rate({.limit = rate->limit, .window = rate->window}), text);
  }
  EXPECT_EQ(format_rate({.limit = 1, .window = 60s}), "1/m");
  EXPECT_EQ(format_rate({.limit = 1, .window = 10s}), "1/10s");
}

TEST(RateRules, know_what_goes_without_saying) {
  const Rate rate{10, 1s};
  EXPECT_EQ(make_rule(rate, {})->algorithm, RateAlgorithm::sliding_window);
  EXPECT_EQ(make_rule(rate, {.burst = 3})->algorithm, RateAlgorithm::token_bucket);
  EXPECT_EQ(make_rule(rate, {.burst = 3})->capacity(), 3U);
  EXPECT_EQ(make_rule(rate, {.layout = "n8n"})->algorithm, RateAlgorithm::fixed_window);
  EXPECT_EQ(make_rule(rate, {.layout = "redisx"})->layout, RateLayout::redisx);
  EXPECT_EQ(make_rule(rate, {.algorithm = "token_bucket"})->capacity(), 10U);
}

TEST(RateRules, that_nobody_could_follow_are_refused_by_the_field) {
  const auto refusal = [](const Rate& rate, const RuleWords& words) {
    const auto rule = make_rule(rate, words);
    EXPECT_FALSE(rule);
    return rule ? "" : rule.error().message;
  };
  const Rate rate{10, 1s};
  EXPECT_EQ(refusal(rate, {.algorithm = "leaky"}),
            "algorithm: must be fixed_window, sliding_window or token_bucket; got \"leaky\"");
  EXPECT_EQ(refusal(rate, {.layout = "mine"}),
            "layout: must be native, n8n or redisx; got \"mine\"");
  EXPECT_EQ(refusal(rate, {.algorithm = "fixed_window", .burst = 3}),
            "burst: only a token_bucket has one");
  EXPECT_TRUE(refusal(rate, {.algorithm = "token_bucket", .layout = "n8n"}).starts_with("layout:"));
  EXPECT_TRUE(refusal({10, 1500ms}, {.layout = "n8n"}).starts_with("window:"));
  EXPECT_TRUE(refusal({0, 1s}, {}).starts_with("limit:"));
}

TEST(RateOutcomes, are_json_whose_times_are_never_too_short) {
  const RateOutcome outcome{.allowed = false,
                            .count = 10,
                            .limit = 10,
                            .remaining = 0,
                            .retry_after = 1001us,
                            .reset_after = 1s};
  EXPECT_EQ(boost::json::serialize(to_json("user-42", outcome)),
            R"({"scope":"user-42","allowed":false,"count":10,"limit":10,"remaining":0,)"
            R"("retry_after_ms":2,"reset_ms":1000})");
}

}  // namespace
}  // namespace holdfast::text
