// SPDX-License-Identifier: Apache-2.0
#include "forrst/rules.hpp"

#include <holdfast/forrst/service.hpp>

#include "support/running.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace holdfast::forrst {
namespace {

namespace json = boost::json;
using Type = Rule::Type;

Function function_with(std::vector<Rule> rules) {
  Function function;
  function.name = "payments.charge";
  function.arguments = std::move(rules);
  return function;
}

std::vector<Fault> faults_of(const Function& function, std::string_view arguments) {
  auto given = json::parse({arguments.data(), arguments.size()}).as_object();
  return check_arguments(function, given);
}

// What the function would find.
std::string found(const Function& function, std::string_view arguments) {
  auto given = json::parse({arguments.data(), arguments.size()}).as_object();
  const auto faults = check_arguments(function, given);
  EXPECT_TRUE(faults.empty()) << arguments << ": " << faults.front().message;
  return json::serialize(given);
}

struct BrokenRule {
  Rule rule;
  std::string value;
  std::string message;
};

TEST(Rules, an_argument_that_breaks_its_rule_is_refused_with_the_rule_and_the_place) {
  const Rule amount{.name = "x", .type = Type::integer, .minimum = 1, .maximum = 1'000'000};
  const Rule rate{.name = "x", .type = Type::number, .minimum = 0.5, .maximum = 2};
  const Rule name{.name = "x", .type = Type::string, .min_length = 2, .max_length = 3};
  const Rule list{.name = "x", .type = Type::array, .min_length = 1, .max_length = 2};
  const Rule choice{.name = "x", .type = Type::string, .one_of = {"EUR", "USD"}};
  const std::vector<BrokenRule> cases{
      {{.name = "x", .type = Type::boolean}, "1", "x must be a boolean"},
      {{.name = "x", .type = Type::boolean}, "null", "x must be a boolean, not null"},
      {{.name = "x", .type = Type::object}, "[]", "x must be an object"},
      {{.name = "x", .type = Type::array}, "{}", "x must be an array"},
      {{.name = "x", .type = Type::string}, "5", "x must be a string"},
      {{.name = "x", .type = Type::number}, "\"5\"", "x must be a number"},
      {amount, "\"5\"", "x must be an integer"},
      {amount, "true", "x must be an integer"},
      {amount, "5.5", "x must be an integer"},
      {amount, "9007199254740994.0", "x must be an integer"},
      {amount, "1e300", "x must be an integer"},
      {amount, "0", "x must be at least 1"},
      {amount, "-9223372036854775808", "x must be at least 1"},
      {amount, "1000001", "x must be at most 1000000"},
      {amount, "18446744073709551615", "x must be at most 1000000"},
      {rate, "0.25", "x must be at least 0.5"},
      {rate, "2.0000001", "x must be at most 2"},
      {rate, "3", "x must be at most 2"},
      {name, "\"a\"", "x must have at least 2 characters"},
      {name, "\"é\"", "x must have at least 2 characters"},
      {name, "\"abcd\"", "x must have at most 3 characters"},
      {list, "[]", "x must have at least 1 elements"},
      {list, "[1,2,3]", "x must have at most 2 elements"},
      {choice, "\"eur\"", "x must be one of EUR, USD"},
      {choice, "\"\"", "x must be one of EUR, USD"},
  };
  for (const auto& [rule, value, message] : cases) {
    const auto faults = faults_of(function_with({rule}), "{\"x\":" + value + "}");
    ASSERT_EQ(faults.size(), 1U) << value;
    EXPECT_EQ(faults[0].code, "INVALID_ARGUMENTS");
    EXPECT_EQ(faults[0].pointer, "/call/arguments/x");
    EXPECT_FALSE(faults[0].position);
    EXPECT_EQ(faults[0].message, message) << value;
  }
}

TEST(Rules, an_argument_that_keeps_its_rule_passes_as_it_is) {
  const std::vector<std::pair<Rule, std::string>> cases{
      {{.name = "x"}, "null"},
      {{.name = "x"}, "[1,{}]"},
      {{.name = "x", .type = Type::boolean}, "false"},
      {{.name = "x", .type = Type::integer}, "-9223372036854775808"},
      {{.name = "x", .type = Type::integer}, "18446744073709551615"},
      {{.name = "x", .type = Type::number}, "5"},
      {{.name = "x", .type = Type::number, .minimum = 0.5, .maximum = 0.5}, "5E-1"},
      {{.name = "x", .type = Type::string, .min_length = 3, .max_length = 3}, "\"é€😀\""},
      {{.name = "x", .type = Type::string, .one_of = {"a", "b"}}, "\"b\""},
      {{.name = "x", .type = Type::array, .max_length = 1}, "[[1,2,3]]"},
      {{.name = "x", .type = Type::object}, "{\"a\":1}"},
  };
  for (const auto& [rule, value] : cases) {
    const auto text = "{\"x\":" + value + "}";
    EXPECT_EQ(found(function_with({rule}), text), text);
  }
}

// As doubles, both would be the same number.
TEST(Rules, a_bound_is_exact_for_large_integers) {
  const auto function =
      function_with({{.name = "x", .type = Type::integer, .maximum = 9007199254740992.0}});
  EXPECT_TRUE(faults_of(function, R"({"x":9007199254740992})").empty());
  EXPECT_EQ(faults_of(function, R"({"x":9007199254740993})").size(), 1U);
}

TEST(Rules, an_integer_may_be_written_with_a_point_and_is_an_integer_then) {
  const auto function = function_with({{.name = "x", .type = Type::integer}});
  EXPECT_EQ(found(function, R"({"x":5.0})"), R"({"x":5})");
  EXPECT_EQ(found(function, R"({"x":-9007199254740992.0})"), R"({"x":-9007199254740992})");
  EXPECT_EQ(found(function_with({{.name = "x", .type = Type::number}}), R"({"x":5.0})"),
            R"({"x":5E0})");
}

TEST(Rules, what_is_required_must_be_there_and_what_has_a_default_is_put_in) {
  const auto function = function_with({{.name = "a/b~c", .type = Type::string, .is_required = true},
                                       {.name = "count", .type = Type::integer, .by_default = 3},
                                       {.name = "free", .type = Type::string}});
  const auto faults = faults_of(function, "{}");
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].message, "a/b~c is required");
  EXPECT_EQ(faults[0].pointer, "/call/arguments/a~1b~0c");
  EXPECT_EQ(found(function, R"({"a/b~c":"x"})"), R"({"a/b~c":"x","count":3})");
  EXPECT_EQ(found(function, R"({"a/b~c":"x","count":7})"), R"({"a/b~c":"x","count":7})");
  // Null is a value, and the wrong one.
  EXPECT_EQ(faults_of(function, R"({"a/b~c":"x","count":null})").size(), 1U);
}

TEST(Rules, an_argument_that_no_rule_names_passes_unless_the_function_says_otherwise) {
  auto function = function_with({{.name = "a"}});
  EXPECT_EQ(found(function, R"({"a":1,"b":2})"), R"({"a":1,"b":2})");
  function.allows_more = false;
  const auto faults = faults_of(function, R"({"a":1,"b/c":2})");
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, "INVALID_ARGUMENTS");
  EXPECT_EQ(faults[0].message, "There is no argument \"b/c\"");
  EXPECT_EQ(faults[0].pointer, "/call/arguments/b~1c");
}

TEST(Rules, all_that_is_wrong_is_told_at_once_up_to_a_limit) {
  auto function = function_with({{.name = "a", .is_required = true},
                                 {.name = "b", .type = Type::integer},
                                 {.name = "c", .type = Type::string}});
  function.allows_more = false;
  const auto faults = faults_of(function, R"({"b":"1","c":1,"d":1})");
  ASSERT_EQ(faults.size(), 4U);
  EXPECT_EQ(faults[0].pointer, "/call/arguments/a");
  EXPECT_EQ(faults[1].pointer, "/call/arguments/b");
  EXPECT_EQ(faults[2].pointer, "/call/arguments/c");
  EXPECT_EQ(faults[3].pointer, "/call/arguments/d");

  json::object many;
  for (std::size_t i = 0; i < 2 * max_faults; ++i) many[std::to_string(i)] = 1;
  EXPECT_EQ(check_arguments(function, many).size(), max_faults);
}

TEST(Rules, that_make_no_sense_are_refused_with_the_name_and_the_reason) {
  const auto infinite = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<Rule, std::string>> cases{
      {{.name = ""}, "argument \"\": name must be UTF-8 of 1 to 200 bytes"},
      {{.name = "\xff"}, "argument \"\\xff\": name must be UTF-8 of 1 to 200 bytes"},
      {{.name = "x", .type = Type::string, .minimum = 1},
       "argument \"x\": minimum and maximum belong to integers and numbers"},
      {{.name = "x", .maximum = 1},
       "argument \"x\": minimum and maximum belong to integers and numbers"},
      {{.name = "x", .type = Type::number, .maximum = infinite},
       "argument \"x\": minimum and maximum must be finite"},
      {{.name = "x", .type = Type::number, .minimum = 2, .maximum = 1},
       "argument \"x\": minimum must not be above maximum"},
      {{.name = "x", .type = Type::integer, .minimum = 1.2, .maximum = 1.8},
       "argument \"x\": there is no integer from minimum to maximum"},
      {{.name = "x", .type = Type::integer, .min_length = 1},
       "argument \"x\": min_length and max_length belong to strings and arrays"},
      {{.name = "x", .type = Type::object, .max_length = 1},
       "argument \"x\": min_length and max_length belong to strings and arrays"},
      {{.name = "x", .type = Type::array, .min_length = 2, .max_length = 1},
       "argument \"x\": min_length must not be above max_length"},
      {{.name = "x", .type = Type::array, .one_of = {"a"}},
       "argument \"x\": one_of belongs to strings"},
      {{.name = "x", .type = Type::string, .one_of = {"a", "a"}},
       "argument \"x\": one_of has the same text twice"},
      {{.name = "x", .type = Type::string, .one_of = {"\xff"}},
       "argument \"x\": one_of must be UTF-8"},
      {{.name = "x", .type = Type::string, .max_length = 1, .one_of = {"ab"}},
       "argument \"x\": one_of: \"ab\" must have at most 1 characters"},
      {{.name = "x", .type = Type::string, .by_default = 5},
       "argument \"x\": by_default must be a string"},
      {{.name = "x", .type = Type::integer, .minimum = 1, .by_default = 0},
       "argument \"x\": by_default must be at least 1"},
  };
  for (const auto& [rule, message] : cases) {
    const auto checked = check_rules({rule});
    EXPECT_EQ(test::error_of(checked), Errc::bad_input) << message;
    EXPECT_EQ(checked.error().message, message);
  }
  const auto twins = check_rules({{.name = "x"}, {.name = "y"}, {.name = "x"}});
  ASSERT_FALSE(twins);
  EXPECT_EQ(twins.error().message, "argument \"x\": two rules have this name");
}

std::vector<Rule> sensible_rules() {
  return {{.name = "amount",
           .type = Type::integer,
           .is_required = true,
           .description = "in cents",
           .minimum = 1,
           .maximum = 100},
          {.name = "factor", .type = Type::number, .minimum = 0.5},
          {.name = "currency",
           .type = Type::string,
           .min_length = 3,
           .max_length = 3,
           .one_of = {"EUR", "USD"},
           .by_default = "EUR"},
          {.name = "tags", .type = Type::array, .min_length = 1, .max_length = 9},
          {.name = "more"}};
}

TEST(Rules, that_make_sense_pass) {
  test::value_of(check_rules({}));
  test::value_of(check_rules(sensible_rules()));
}

TEST(Rules, are_shown_as_a_json_schema) {
  auto function = function_with(sensible_rules());
  function.allows_more = false;
  EXPECT_EQ(json::serialize(to_schema(function)),
            R"({"type":"object","properties":{)"
            R"("amount":{"type":"integer","description":"in cents","minimum":1,"maximum":100},)"
            R"("factor":{"type":"number","minimum":5E-1},)"
            R"("currency":{"type":"string","minLength":3,"maxLength":3,"enum":["EUR","USD"],)"
            R"("default":"EUR"},)"
            R"("tags":{"type":"array","minItems":1,"maxItems":9},"more":{}},)"
            R"("required":["amount"],"additionalProperties":false})");
  EXPECT_EQ(json::serialize(to_schema(function_with({}))),
            R"({"type":"object","properties":{},"additionalProperties":true})");
}

TEST(Rules, every_type_has_its_word_and_is_found_by_it) {
  for (const auto* word : {"any", "boolean", "integer", "number", "string", "array", "object"}) {
    const auto type = parse_type(word);
    ASSERT_TRUE(type) << word;
    EXPECT_EQ(to_string(*type), word);
  }
  EXPECT_EQ(to_string(Type::object), "object");
  EXPECT_FALSE(parse_type("Integer"));
  EXPECT_FALSE(parse_type(""));
}

}  // namespace
}  // namespace holdfast::forrst
