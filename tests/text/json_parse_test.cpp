// SPDX-License-Identifier: Apache-2.0
#include "text/json_parse.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace holdfast::text {
namespace {

using namespace std::string_literals;

struct Flawed {
  std::string text;
  std::size_t position;
  std::string message;
};

void expect_flaws(const std::vector<Flawed>& cases, std::size_t max_depth = 64) {
  for (const auto& [text, position, message] : cases) {
    const auto parsed = parse_json_at(text, max_depth);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().position, position) << text;
    EXPECT_EQ(parsed.error().message, message) << text;
  }
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonParse, says_what_is_wrong_in_the_words_that_clients_know) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "the body is not JSON: incomplete JSON at byte 0"},
      {"[1,]", "the body is not JSON: syntax error at byte 3"},
      {"{} {}", "the body is not JSON: more than one value at byte 3"},
      {"\"a\xff\"", "the body is not JSON: syntax error at byte 2"},
      {"[1e400]", "the JSON has a number that is out of range"},
      {R"({"a":1,"\u0061":2})", "the JSON has the same key twice in one object"},
      {nested(17), "the JSON is nested deeper than 16 levels"},
  };
  for (const auto& [text, message] : cases) {
    const auto parsed = parse_json(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::bad_input) << text;
    EXPECT_EQ(parsed.error().message, message) << text;
  }
  EXPECT_TRUE(parse_json(nested(16)));
}

TEST(JsonParse, points_at_a_stray_or_missing_sign) {
  expect_flaws({
      {"[1,]", 3, "a value is missing"},
      {"[1,,2]", 3, "a value is missing"},
      {"[1 2]", 3, "',' or ']' is missing"},
      {R"({"a":1,})", 7, "a key in quotes is missing"},
      {R"({"a":1 "b":2})", 7, "',' or '}' is missing"},
      {R"({"a" 1})", 5, "':' is missing"},
      {"{a:1}", 1, "a key in quotes is missing"},
      {"{'a':1}", 1, "a key in quotes is missing"},
      {R"({"a":})", 5, "a value is missing"},
      {"{} {}", 3, "more than one value"},
      {"{}\nx", 3, "more than one value"},
      {"{}]", 2, "more than one value"},
      {"\xEF\xBB\xBF{}", 0, "a value is missing"},
      {"[1]\0"s, 3, "more than one value"},
      {"[\0]"s, 1, "a value is missing"},
  });
}

TEST(JsonParse, points_at_what_is_no_word_and_no_number) {
  expect_flaws({
      {R"({"a":tru})", 8, "no value; did you mean true?"},
      {"[falsE]", 5, "no value; did you mean false?"},
      {"[NaN]", 1, "a value is missing"},
      {"[+1]", 1, "a value is missing"},
      {"[.5]", 1, "a value is missing"},
      {"[01]", 2, "',' or ']' is missing"},
      {"[-]", 2, "a digit is missing"},
      {"[1.]", 3, "a digit is missing"},
      {"[1e]", 3, "a digit is missing"},
      {"[1e+x]", 4, "a digit is missing"},
      {"1x", 1, "more than one value"},
      {"[0, 1e400]", 4, "a number that is out of range"},
      {"[0, -1e400]", 4, "a number that is out of range"},
      {"[1e99999999999]", 1, "a number that is out of range"},
  });
}

TEST(JsonParse, points_at_the_byte_of_a_text_that_may_not_be_there) {
  expect_flaws({
      {"[\"a\xff\"]", 3, "a byte that is not UTF-8"},
      {"[\"\xe2\x82\"]", 2, "a byte that is not UTF-8"},
      {"[\"\xc0\x80\"]", 2, "a byte that is not UTF-8"},
      {"[\"\xed\xa0\x80\"]", 2, "a byte that is not UTF-8"},
      {"{\"k\x80\":1}", 3, "a byte that is not UTF-8"},
      {"[\"a\nb\"]", 3, "a control character in a text"},
      {R"(["\x"])", 3, "an unknown escape"},
      {R"(["\u12g4"])", 6, "a hexadecimal digit is missing"},
      {R"(["\udc00"])", 2, "half a surrogate pair"},
      {R"(["\ud800"])", 8, "the other half of a surrogate pair is missing"},
      {R"(["\ud800\n"])", 9, "the other half of a surrogate pair is missing"},
      {R"(["\ud800\u0041"])", 8, "the other half of a surrogate pair is missing"},
  });
}

TEST(JsonParse, a_text_that_is_cut_short_is_wrong_at_its_end) {
  const std::string whole = R"({"a":[true,-1.5e3,"x\u00e9\ud83d\ude00é€😀"],"b":{"c":null}})";
  ASSERT_TRUE(parse_json_at(whole, 64));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_flaws({{whole.substr(0, size), size, "the text ends too early"}});
  }
  // The quote that is missing is noticed where the text is over.
  expect_flaws({{R"({"abc:1})", 8, "the text ends too early"}});
}

TEST(JsonParse, points_at_the_second_of_two_equal_keys) {
  expect_flaws({
      {R"({"a":1,"a":2})", 7, "the same key twice in one object"},
      {R"({"a":1,"\u0061":2})", 7, "the same key twice in one object"},
      {R"({"x":[{"é":1, "\u00e9":2}]})", 15, "the same key twice in one object"},
  });
  EXPECT_TRUE(parse_json_at(R"({"a":{"a":[{"a":1},{"a":2}]}})", 64));
}

TEST(JsonParse, points_at_the_bracket_that_is_one_too_many) {
  expect_flaws({{nested(5), 4, "nested deeper than 4 levels"},
                {R"({"a":{"a":{"a":{"a":[]}}}})", 20, "nested deeper than 4 levels"}},
               4);
  EXPECT_TRUE(parse_json_at(nested(4), 4));
  expect_flaws({{std::string(500'000, '['), 64, "nested deeper than 64 levels"}});
}

// A parser reads in blocks, and tells where it was in one.
TEST(JsonParse, points_at_the_byte_however_far_behind_it_is) {
  for (const std::size_t size : {100U, 1023U, 1024U, 2047U, 2048U, 4096U, 70'000U}) {
    const std::string filler(size, 'x');
    const std::string spaces(size, ' ');
    expect_flaws({
        {"[\"" + filler + "\xff\"]", size + 2, "a byte that is not UTF-8"},
        {"[\"" + filler + "\",]", size + 4, "a value is missing"},
        {"[\"" + filler, size + 2, "the text ends too early"},
        {"[" + spaces + "x]", size + 1, "a value is missing"},
        {"{}" + spaces + "{", size + 2, "more than one value"},
    });
  }
}

// Broken at random, a text is refused by both or by none, and always at a place inside of it.
TEST(JsonParse, finds_a_flaw_in_whatever_the_parser_refuses) {
  const std::string whole = R"({"a":[true,-1.5e3,"x\u00e9\ud83d\ude00é€"],"b":{"a":null,"c":[]}})";
  std::mt19937 random(4711);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto text = whole;
    const std::string_view signs = "{}[]\",:\\u0e-. a\xff\xc3";
    for (auto changes = 1 + random() % 2; changes > 0; --changes) {
      text[random() % text.size()] = signs[random() % signs.size()];
    }
    const auto flaw = find_flaw(text, 64);
    const auto parsed = parse_json_at(text, 64);
    ASSERT_EQ(parsed.has_value(), !flaw) << text;
    if (!flaw) continue;
    ++refused;
    ASSERT_EQ(parsed.error().position, flaw->position) << text;
    ASSERT_LE(flaw->position, text.size()) << text;
    ASSERT_FALSE(flaw->message.empty()) << text;
  }
  EXPECT_GT(refused, 1'000);
}

}  // namespace
}  // namespace holdfast::text
