// SPDX-License-Identifier: Apache-2.0
#include "forrst/duration.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::forrst {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

const DurationRule ttl{.what = "Lock TTL", .most = 24h};
const DurationRule deadline{.what = "Deadline", .most = 1500ms, .allows_milliseconds = true};

struct Good {
  std::string text;
  Duration duration;
};

struct Bad {
  std::string text;
  std::string member;
  std::string message;
};

void expect_read(const std::vector<Good>& cases, const DurationRule& rule) {
  for (const auto& [text, duration] : cases) {
    const auto parsed = parse_duration(json::parse(text), rule);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, duration) << text;
  }
}

void expect_refused(const std::vector<Bad>& cases, const DurationRule& rule) {
  for (const auto& [text, member, message] : cases) {
    const auto parsed = parse_duration(json::parse(text), rule);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().member, member) << text;
    EXPECT_EQ(parsed.error().message, message) << text;
  }
}

TEST(ForrstDuration, is_a_whole_number_of_a_unit) {
  expect_read({{R"({"value":30,"unit":"second"})", 30s},
               {R"({"value":2,"unit":"minute"})", 2min},
               {R"({"value":3,"unit":"hour"})", 3h},
               {R"({"value":1,"unit":"day"})", 24h},
               {R"({"value":86400})", 24h},
               {R"({"unit":"second","value":1,"comment":"more"})", 1s},
               {R"({"value":5.0})", 5s},
               {R"({"value":5e1})", 50s}},
              ttl);
}

TEST(ForrstDuration, may_be_a_text_of_a_whole_number) {
  expect_read({{R"({"value":"30"})", 30s}, {R"({"value":"007","unit":"minute"})", 7min}}, ttl);
  for (const auto* value : {"", " 5", "5 ", "+5", "5.0", "5e1", "0x5", "five", "-", "5s", "٣"}) {
    const auto parsed = parse_duration(json::object{{"value", value}}, ttl);
    ASSERT_FALSE(parsed) << value;
    EXPECT_EQ(parsed.error().member, "value") << value;
    EXPECT_EQ(parsed.error().message, "Duration value must be a whole number") << value;
  }
}

TEST(ForrstDuration, is_refused_if_it_is_no_object_or_has_no_value) {
  const std::string not_object = "Lock TTL must be an object with value and unit";
  const std::string not_whole = "Duration value must be a whole number";
  expect_refused({{"30", "", not_object},
                  {"\"30s\"", "", not_object},
                  {"null", "", not_object},
                  {"[30]", "", not_object},
                  {"{}", "value", "Duration value is required"},
                  {R"({"unit":"second"})", "value", "Duration value is required"},
                  {R"({"value":null})", "value", not_whole},
                  {R"({"value":true})", "value", not_whole},
                  {R"({"value":{}})", "value", not_whole},
                  {R"({"value":[1]})", "value", not_whole},
                  {R"({"value":1.5})", "value", not_whole},
                  {R"({"value":-0.5})", "value", not_whole},
                  {R"({"value":1e-9})", "value", not_whole}},
                 ttl);
}

TEST(ForrstDuration, is_refused_with_a_unit_that_is_none) {
  const std::string allowed = ". Allowed: second, minute, hour, day";
  const std::string not_text = "Duration unit must be a string";
  expect_refused(
      {{R"({"value":1,"unit":null})", "unit", not_text},
       {R"({"value":1,"unit":1})", "unit", not_text},
       {R"({"value":1,"unit":"seconds"})", "unit", "Invalid duration unit: seconds" + allowed},
       {R"({"value":1,"unit":"Second"})", "unit", "Invalid duration unit: Second" + allowed},
       {R"({"value":1,"unit":""})", "unit", "Invalid duration unit: " + allowed},
       {R"({"value":1,"unit":"millisecond"})", "unit",
        "Invalid duration unit: millisecond" + allowed}},
      ttl);
  expect_refused({{R"({"value":1,"unit":"week"})", "unit",
                   "Invalid duration unit: week. Allowed: millisecond, second, minute, hour, day"}},
                 deadline);
}

TEST(ForrstDuration, does_not_repeat_a_unit_of_any_length) {
  const auto parsed =
      parse_duration(json::object{{"value", 1}, {"unit", std::string(100'000, 'x')}}, ttl);
  ASSERT_FALSE(parsed);
  EXPECT_LT(parsed.error().message.size(), 200U);
}

TEST(ForrstDuration, is_more_than_nothing) {
  const std::string message = "Lock TTL must be positive";
  for (const auto* text :
       {R"({"value":0})", R"({"value":-1})", R"({"value":"0"})", R"({"value":"-5"})",
        R"({"value":-0.0})", R"({"value":-9223372036854775808,"unit":"day"})",
        R"({"value":-1e300})", R"({"value":"-99999999999999999999"})"}) {
    expect_refused({{text, "value", message}}, ttl);
  }
}

TEST(ForrstDuration, is_not_longer_than_its_rule_allows) {
  const std::string beyond = " exceeds maximum allowed 86400 seconds";
  expect_refused({{R"({"value":86401})", "value", "Lock TTL of 86401 seconds" + beyond},
                  {R"({"value":"86401"})", "value", "Lock TTL of 86401 seconds" + beyond},
                  {R"({"value":2,"unit":"day"})", "value", "Lock TTL of 172800 seconds" + beyond},
                  {R"({"value":25,"unit":"hour"})", "value", "Lock TTL of 90000 seconds" + beyond},
                  {R"({"value":106751992,"unit":"day"})", "value", "Lock TTL" + beyond},
                  {R"({"value":9223372036854775807})", "value", "Lock TTL" + beyond},
                  {R"({"value":9223372036854775807,"unit":"day"})", "value", "Lock TTL" + beyond},
                  {R"({"value":18446744073709551615})", "value", "Lock TTL" + beyond},
                  {R"({"value":99999999999999999999})", "value", "Lock TTL" + beyond},
                  {R"({"value":"99999999999999999999"})", "value", "Lock TTL" + beyond},
                  {R"({"value":1e300})", "value", "Lock TTL" + beyond}},
                 ttl);
}

TEST(ForrstDuration, may_be_in_milliseconds_where_the_rule_says_so) {
  expect_read({{R"({"value":250,"unit":"millisecond"})", 250ms},
               {R"({"value":1500,"unit":"millisecond"})", 1500ms},
               {R"({"value":1})", 1s}},
              deadline);
  expect_refused({{R"({"value":1501,"unit":"millisecond"})", "value",
                   "Deadline of 1501 milliseconds exceeds maximum allowed 1500 milliseconds"},
                  {R"({"value":2})", "value",
                   "Deadline of 2 seconds exceeds maximum allowed 1500 milliseconds"}},
                 deadline);
}

TEST(ForrstDuration, a_number_that_a_program_made_counts_too) {
  EXPECT_EQ(parse_duration(json::object{{"value", std::uint64_t{7}}}, ttl).value(), 7s);
}

TEST(ForrstDuration, is_written_in_the_largest_unit_that_says_it_exactly) {
  const std::vector<std::pair<Duration, std::string>> cases{
      {30s, R"({"value":30,"unit":"second"})"},
      {60s, R"({"value":1,"unit":"minute"})"},
      {90s, R"({"value":90,"unit":"second"})"},
      {2h, R"({"value":2,"unit":"hour"})"},
      {48h, R"({"value":2,"unit":"day"})"},
      {36h, R"({"value":36,"unit":"hour"})"},
      {1500ms, R"({"value":1500,"unit":"millisecond"})"},
      {1999us, R"({"value":1,"unit":"millisecond"})"},
      {999us, R"({"value":0,"unit":"millisecond"})"},
      {0s, R"({"value":0,"unit":"second"})"},
  };
  for (const auto& [duration, text] : cases) {
    EXPECT_EQ(json::serialize(to_json(duration)), text);
  }
}

}  // namespace
}  // namespace holdfast::forrst
