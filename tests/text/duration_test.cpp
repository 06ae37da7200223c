// SPDX-License-Identifier: Apache-2.0
#include "text/duration.hpp"

#include "support/random_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::text {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

TEST(Duration, one_integer_and_one_unit) {
  EXPECT_EQ(parse_duration("0s"), Duration(0s));
  EXPECT_EQ(parse_duration("1ms"), Duration(1ms));
  EXPECT_EQ(parse_duration("30s"), Duration(30s));
  EXPECT_EQ(parse_duration("5m"), Duration(5min));
  EXPECT_EQ(parse_duration("24h"), Duration(24h));
  EXPECT_EQ(parse_duration("2d"), Duration(48h));
  EXPECT_EQ(parse_duration("007s"), Duration(7s));
  EXPECT_EQ(parse_duration("106751991d"), Duration(106751991LL * 24h));
}

TEST(Duration, nothing_else_is_one) {
  struct Case {
    std::string text;
    std::string_view reason;
  };
  for (const auto& [text, reason] : {
           Case{"", "is empty"},
           Case{"5", "has no unit"},
           Case{"99999999999999999999", "has no unit"},
           Case{"s", "does not begin with a digit"},
           Case{"-1s", "does not begin with a digit"},
           Case{"+1s", "does not begin with a digit"},
           Case{" 1s", "does not begin with a digit"},
           Case{"infinity", "does not begin with a digit"},
           Case{"1s ", "more than an integer and a known unit"},
           Case{"1 s", "more than an integer and a known unit"},
           Case{"5m5", "more than an integer and a known unit"},
           Case{"1m30s", "more than an integer and a known unit"},
           Case{"1.5s", "more than an integer and a known unit"},
           Case{"1e99s", "more than an integer and a known unit"},
           Case{"0x1s", "more than an integer and a known unit"},
           Case{"1S", "more than an integer and a known unit"},
           Case{"1us", "more than an integer and a known unit"},
           Case{"1w", "more than an integer and a known unit"},
           Case{"1sec", "more than an integer and a known unit"},
           Case{std::string("1s\0", 3), "more than an integer and a known unit"},
           Case{"99999999999999999999s", "is too long"},
           Case{"106751992d", "is too long"},
           Case{"9223372036854775807ms", "is too long"},
       }) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::bad_input);
    EXPECT_NE(parsed.error().message.find(reason), std::string::npos) << parsed.error().message;
    EXPECT_NE(parsed.error().message.find("one integer and one unit"), std::string::npos);
  }
}

TEST(Duration, a_refusal_quotes_the_text_safely) {
  EXPECT_EQ(parse_duration("1\x1b[31m").error().message,
            "duration \"1\\x1b[31m\" has more than an integer and a known unit; write one integer "
            "and one unit (ms, s, m, h, d), such as 90s");
  EXPECT_LT(parse_duration(std::string(100'000, 'x')).error().message.size(), 250U);
}

TEST(Duration, the_shortest_exact_form) {
  EXPECT_EQ(format_duration(0ms), "0s");
  EXPECT_EQ(format_duration(1ms), "1ms");
  EXPECT_EQ(format_duration(1500ms), "1500ms");
  EXPECT_EQ(format_duration(90s), "90s");
  EXPECT_EQ(format_duration(120s), "2m");
  EXPECT_EQ(format_duration(24h), "1d");
  EXPECT_EQ(format_duration(25h), "25h");
  EXPECT_EQ(format_duration(-5s), "-5s");
}

TEST(Duration, what_is_formatted_is_read_back) {
  test::Random random;
  for (int round = 0; round < 10'000; ++round) {
    const milliseconds duration(random.bits() >> (11 + random.below(50)));
    EXPECT_EQ(parse_duration(format_duration(duration)), Duration(duration));
  }
}

TEST(Duration, random_text_does_no_harm) {
  test::Random random;
  for (int round = 0; round < 50'000; ++round) {
    const auto parsed = parse_duration(random.text_of("0123456789msshd.-+ e", 24));
    if (!parsed) {
      EXPECT_EQ(parsed.error().code, Errc::bad_input);
      continue;
    }
    EXPECT_GE(parsed->count(), 0);
  }
}

}  // namespace
}  // namespace holdfast::text
