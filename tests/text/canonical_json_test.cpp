// SPDX-License-Identifier: Apache-2.0
#include "text/canonical_json.hpp"

#include <holdfast/idempotency.hpp>

#include "support/program.hpp"
#include "support/running.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

using text::canonical_json;

std::string canonical(std::string_view json) { return value_of(canonical_json(json)); }

std::string refusal(std::string_view json) {
  const auto refused = canonical_json(json);
  EXPECT_EQ(error_of(refused), Errc::bad_input) << json;
  return refused ? "" : refused.error().message;
}

TEST(CanonicalJson, has_no_spaces_and_its_keys_in_order_at_every_depth) {
  EXPECT_EQ(canonical(" { \"b\" : [ 3 , {\"z\":1,\"a\":2} ] ,\r\n\t\"a\" : true } "),
            R"({"a":true,"b":[3,{"a":2,"z":1}]})");
  EXPECT_EQ(canonical("[]"), "[]");
  EXPECT_EQ(canonical("{}"), "{}");
  EXPECT_EQ(canonical("[null,false]"), "[null,false]");
  EXPECT_EQ(canonical("\"x\""), "\"x\"");
}

TEST(CanonicalJson, sorts_keys_by_utf_16_code_units_and_not_by_bytes) {
  // U+1F600 is a pair from U+D83D on, before U+E000 and U+FFFD, though its bytes are larger.
  EXPECT_EQ(canonical("{\"\uFFFD\":1,\"\uE000\":2,\"\U0001F600\":3,\"\uD7FF\":4}"),
            "{\"\uD7FF\":4,\"\U0001F600\":3,\"\uE000\":2,\"\uFFFD\":1}");
}

TEST(CanonicalJson, sorts_keys_that_look_like_numbers_as_texts) {
  EXPECT_EQ(canonical(R"({"9":1,"10":2,"1":3,"__proto__":4,"":5,"a":6,"A":7})"),
            R"({"":5,"1":3,"10":2,"9":1,"A":7,"__proto__":4,"a":6})");
}

TEST(CanonicalJson, keeps_the_last_of_equal_keys_however_they_are_written) {
  EXPECT_EQ(canonical(R"({"a":1,"b":0,"\u0061":2,"a":3})"), R"({"a":3,"b":0})");
}

TEST(CanonicalJson, writes_texts_with_the_escapes_they_need_and_no_others) {
  EXPECT_EQ(canonical(R"("\u0008\u000c\u000a\u000d\u0009\u0022\u005c\/\u0000\u001F\u007f")"),
            "\"\\b\\f\\n\\r\\t\\\"\\\\/\\u0000\\u001f\x7f\"");
  EXPECT_EQ(canonical(R"("\u00e9\u2028\ud83d\ude00")"), "\"\u00e9\u2028\U0001F600\"");
}

TEST(CanonicalJson, writes_a_lone_surrogate_as_its_escape) {
  EXPECT_EQ(canonical(R"("\uD83D")"), R"("\ud83d")");
  EXPECT_EQ(canonical(R"("\uDE00\uD83Dx\uD83D\uD83D\uDE00")"),
            "\"\\ude00\\ud83dx\\ud83d\U0001F600\"");
  EXPECT_EQ(canonical(R"({"\uDBFFx":1,"\uD800\uDC00":2})"), "{\"\U00010000\":2,\"\\udbffx\":1}");
}

TEST(CanonicalJson, prints_numbers_as_javascript_does) {
  const std::vector<std::pair<std::string, std::string>> numbers{
      {"0", "0"},
      {"-0", "0"},
      {"-0.0e7", "0"},
      {"1.0", "1"},
      {"1.50", "1.5"},
      {"100", "100"},
      {"1e2", "100"},
      {"1E+2", "100"},
      {"0.1", "0.1"},
      {"0.30000000000000004", "0.30000000000000004"},
      {"9007199254740993", "9007199254740992"},
      {"12345678901234567890", "12345678901234567000"},
      {"1e20", "100000000000000000000"},
      {"1e21", "1e+21"},
      {"1.5e300", "1.5e+300"},
      {"123456789012345678901234567890", "1.2345678901234568e+29"},
      {"0.000001", "0.000001"},
      {"0.0000001", "1e-7"},
      {"0.00000123", "0.00000123"},
      {"-1.25e-9", "-1.25e-9"},
      {"5e-324", "5e-324"},
      {"1e-400", "0"},
      {"-1e-99999999999999999999", "0"},
      {"0.0000001e310", "1e+303"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
  };
  for (const auto& [json, printed] : numbers) {
    EXPECT_EQ(canonical(json), printed) << json;
  }
}

TEST(CanonicalJson, refuses_what_javascript_would_turn_into_nothing) {
  // Infinity is written as null there: two different amounts would have one fingerprint.
  EXPECT_EQ(refusal("[1,1e400]"), "a number beyond the doubles at byte 3");
  refusal("-1e309");
  refusal("0.0000001e400");
  refusal("1e99999999999999999999");
  refusal("1" + std::string(400, '0'));
}

TEST(CanonicalJson, refuses_what_is_no_json_and_says_where) {
  EXPECT_EQ(refusal(""), "a value is missing at byte 0");
  EXPECT_EQ(refusal("  "), "a value is missing at byte 2");
  EXPECT_EQ(refusal("{} {}"), "more than one value at byte 3");
  EXPECT_EQ(refusal("[1,]"), "no value at byte 3");
  EXPECT_EQ(refusal(R"({"a":1,})"), "a key in quotes is missing at byte 7");
  EXPECT_EQ(refusal(R"({"a" 1})"), "':' is missing at byte 5");
  EXPECT_EQ(refusal("[1 2]"), "',' or ']' is missing at byte 3");
  EXPECT_EQ(refusal(R"({"a":1)"), "',' or '}' is missing at byte 6");
  for (const auto* bad : {"NaN",
                          "Infinity",
                          "-Infinity",
                          "-",
                          "+1",
                          "01",
                          "1.",
                          ".5",
                          "1e",
                          "1e+",
                          "0x1",
                          "nul",
                          "True",
                          "'a'",
                          "{a:1}",
                          "// no\n1",
                          R"("a)",
                          R"("\)",
                          R"("\x")",
                          R"("\u12")",
                          R"("\u12g4")",
                          "\"\t\"",
                          "\xEF\xBB\xBF{}",
                          "[",
                          "{",
                          R"({"a")",
                          R"("\u+123")",
                          "\v1"}) {
    EXPECT_NE(refusal(bad), "") << bad;
  }
  refusal(std::string_view("\0", 1));
  refusal(std::string_view("1\0", 2));
}

TEST(CanonicalJson, refuses_what_is_no_utf_8) {
  for (const auto* bad : {"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
                          "\"\xe2\x82\"", "\"\x80\""}) {
    EXPECT_EQ(refusal(bad), "no UTF-8 at byte 1") << bad;
  }
}

TEST(CanonicalJson, has_limits) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  const auto deepest = nested(text::max_canonical_depth + 1);
  EXPECT_EQ(canonical(deepest), deepest);
  EXPECT_EQ(refusal(nested(text::max_canonical_depth + 2)),
            "nested deeper than 100 levels at byte 101");
  EXPECT_EQ(refusal(std::string(500'000, '[')), "nested deeper than 100 levels at byte 101");

  const std::string longest = '"' + std::string(text::max_canonical_bytes - 2, 'x') + '"';
  EXPECT_EQ(canonical(longest), longest);
  EXPECT_EQ(refusal(longest + " "), "must be at most 1048576 bytes long; got 1048577");
}

TEST(CanonicalJson, of_itself_is_itself) {
  const auto once = canonical(R"({"b":[1e21,-0.5,"\ud800\n"],"a":{"z":{},"\u007f":[[]]}})");
  EXPECT_EQ(canonical(once), once);
}

// Documents that a person would not think of, and the same ones for the same seed.
class Documents {
 public:
  explicit Documents(std::uint64_t seed) : random_(seed) {}

  std::string value(int depth = 0) {
    switch (below(depth > 4 ? 5 : 8)) {
      case 0: return below(2) == 0 ? "true" : "null";
      case 1:
      case 2: return number();
      case 3:
      case 4: return string();
      case 5:
      case 6: return object(depth);
      default: return array(depth);
    }
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::string spaces() { return std::string(below(4) == 0 ? below(3) : 0, " \t\n\r"[below(4)]); }

  std::string digits(std::uint64_t most) {
    std::string out;
    for (auto left = 1 + below(most); left > 0; --left) out += static_cast<char>('0' + below(10));
    return out;
  }
  std::string number() {
    std::string out = below(3) == 0 ? "-" : "";
    out += below(3) == 0 ? "0" : std::to_string(1 + below(9)) + digits(below(8) == 0 ? 25 : 4);
    if (below(2) == 0) out += "." + digits(below(8) == 0 ? 25 : 6);
    if (below(3) == 0) {
      const auto* sign = below(2) == 0 ? "-" : below(2) == 0 ? "+" : "";
      out += (below(2) == 0 ? "e" : "E") + std::string(sign) + std::to_string(below(280));
    }
    return out;
  }
  // From the places where orders and escapes differ.
  std::string character() {
    static const std::vector<std::string> some{
        "a",       "b",       "A",       "0",       "10",         "9",          " ",
        "/",       "\\/",     "\\\"",    "\\\\",    "\\b",        "\\f",        "\\n",
        "\\r",     "\\t",     "\\u0000", "\\u001f", "\u007f",     "\u00e9",     "\u2028",
        "\uD7FF",  "\uE000",  "\uFFFD",  "\uFFFF",  "\U00010000", "\U0001F600", "\U0010FFFF",
        "\\ud83d", "\\uDE00", "\\uD800", "\\udfff", "\\u00E9",    "__proto__",  "\\uD83D\\uDE00"};
    return some[below(some.size())];
  }
  std::string string() {
    std::string out = "\"";
    for (auto left = below(5); left > 0; --left) out += character();
    return out + "\"";
  }
  std::string array(int depth) {
    std::string out = "[" + spaces();
    for (auto left = below(5); left > 0; --left) {
      out += value(depth + 1) + spaces() + (left > 1 ? "," : "");
    }
    return out + "]";
  }
  std::string object(int depth) {
    std::string out = "{" + spaces();
    for (auto left = below(8); left > 0; --left) {
      out += spaces() + string() + spaces() + ":" + spaces() + value(depth + 1);
      if (left > 1) out += ",";
    }
    return out + "}";
  }

  std::mt19937_64 random_;
};

// What JavaScript makes of them, by canonical_json.mjs beside this file.
class InJavaScript : public testing::Test {
 protected:
  void SetUp() override {
    if (test::run({"sh", "-c", "command -v node"}).code != 0) {
      GTEST_SKIP() << "node is not installed; tools/install_packages test installs it";
    }
  }
  static boost::json::array ask(const std::vector<std::string>& documents) {
    const boost::json::array input(documents.begin(), documents.end());
    const auto script = std::filesystem::path(__FILE__).parent_path() / "canonical_json.mjs";
    const auto finished =
        test::run({"node", script.string()}, {.input = boost::json::serialize(input)});
    if (finished.code != 0) throw std::runtime_error(finished.err);
    return boost::json::parse(finished.out).as_array();
  }
};

TEST_F(InJavaScript, several_hundred_documents_have_the_same_bytes_and_fingerprints) {
  std::vector<std::string> documents{"{}", "null", "[]", "-0", "1e21", "5e-324"};
  Documents random(20261116);
  while (documents.size() < 800) documents.push_back(random.value());
  const auto answers = ask(documents);
  ASSERT_EQ(answers.size(), documents.size());
  std::size_t texts = 0;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    SCOPED_TRACE(documents[i]);
    const auto& answer = answers[i].as_object();
    if (answer.at("canonical").is_null()) {
      // Somewhere in it JavaScript came to Infinity.
      EXPECT_EQ(error_of(canonical_json(documents[i])), Errc::bad_input);
      continue;
    }
    ++texts;
    ASSERT_EQ(canonical(documents[i]), std::string_view(answer.at("canonical").as_string()));
    const auto fingerprint = request_fingerprint(
        {.method = "POST", .path = "/payments?x=1", .body = documents[i], .query = R"({"x":"1"})"});
    ASSERT_EQ(value_of(fingerprint), std::string_view(answer.at("fingerprint").as_string()));
  }
  EXPECT_GT(texts, 700U);
}

}  // namespace
}  // namespace holdfast::test
