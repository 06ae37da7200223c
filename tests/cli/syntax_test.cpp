// SPDX-License-Identifier: Apache-2.0
#include "cli/syntax.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::test {
namespace {

using cli::Syntax;
using testing::ElementsAre;
using testing::HasSubstr;

// What a command with one option that may be repeated, one argument and a few others gets.
struct Parsed {
  std::vector<std::string> names;
  std::string first;
  std::optional<std::string> server;
  std::optional<int> code;
  std::string form;
  bool quick = false;
  bool slow = false;

  Result<Syntax::Asked> parse(std::vector<std::string> words) {
    Syntax syntax("holdfast test");
    syntax.positional("FIRST", &first, "An argument");
    syntax.option("--name", &names, "NAME", "May be repeated");
    syntax.option("--server", &server, "[URL]", "May lack its value").optional_value();
    syntax.option("-E,--code", &code, "CODE", "A number").between(0, 255);
    syntax.option("--form", &form, "text|json", "One of two words").one_of_words();
    auto& quick_flag = syntax.flag("--quick", &quick, "Excludes the other");
    syntax.flag("--slow", &slow, "Excludes the other").excludes(quick_flag);
    syntax.help_flag("-h,--help", "Asks for help");
    return syntax.parse(std::move(words));
  }
  std::string refusal(std::vector<std::string> words) {
    const auto asked = parse(std::move(words));
    return asked ? "" : asked.error().message;
  }
};

TEST(Syntax, hands_on_values_in_brackets_as_they_were_typed) {
  Parsed parsed;
  ASSERT_TRUE(parsed.parse({"--name", "[x]", "--name=[a,b]", "--name", "[]", "[y]"}));
  EXPECT_THAT(parsed.names, ElementsAre("[x]", "[a,b]", "[]"));
  EXPECT_EQ(parsed.first, "[y]");
}

TEST(Syntax, gives_one_value_to_an_option_each_time_it_stands) {
  Parsed parsed;
  ASSERT_TRUE(parsed.parse({"--name", "a", "b", "--name", "c"}));
  EXPECT_THAT(parsed.names, ElementsAre("a", "c"));
  EXPECT_EQ(parsed.first, "b");
}

TEST(Syntax, gives_all_words_to_an_argument_that_takes_several) {
  Syntax syntax;
  std::vector<std::string> files;
  bool quiet = false;
  syntax.positional("FILE", &files, "Files").required().at_most(3);
  syntax.flag("--quiet", &quiet, "A flag between them");
  ASSERT_TRUE(syntax.parse({"[a]", "--quiet", "b", "--", "-c"}));
  EXPECT_THAT(files, ElementsAre("[a]", "b", "-c"));
  EXPECT_TRUE(quiet);
  EXPECT_FALSE(syntax.parse({"a", "b", "c", "d"}));
  EXPECT_FALSE(syntax.parse({}));
}

TEST(Syntax, tells_an_option_without_its_value_from_one_that_is_not_there) {
  Parsed parsed;
  ASSERT_TRUE(parsed.parse({}));
  EXPECT_EQ(parsed.server, std::nullopt);
  EXPECT_EQ(parsed.code, std::nullopt);
  ASSERT_TRUE(parsed.parse({"--server", "-E", "0"}));
  EXPECT_EQ(parsed.server, "");
  EXPECT_EQ(parsed.code, 0);
  ASSERT_TRUE(parsed.parse({"--server", "http://h"}));
  EXPECT_EQ(parsed.server, "http://h");
}

TEST(Syntax, asks_for_help_whatever_else_is_missing) {
  Parsed parsed;
  const auto asked = parsed.parse({"-h", "--quick"});
  ASSERT_TRUE(asked);
  EXPECT_EQ(*asked, Syntax::Asked::help);
}

TEST(Syntax, refuses_what_breaks_a_rule) {
  Parsed parsed;
  EXPECT_THAT(parsed.refusal({"--code", "256"}), HasSubstr("256 not in range 0 to 255"));
  EXPECT_THAT(parsed.refusal({"--form", "xml"}), HasSubstr("xml not in {text,json}"));
  EXPECT_THAT(parsed.refusal({"--quick", "--slow"}), HasSubstr("excludes"));
  EXPECT_THAT(parsed.refusal({"--slow", "--quick"}), HasSubstr("excludes"));
  EXPECT_EQ(parsed.refusal({"--form", "text", "--form", "json"}),
            "--form stands twice; see 'holdfast test --help'");
  EXPECT_EQ(parsed.refusal({"--code"}),
            "--code needs a value, as in --code CODE; see 'holdfast test --help'");
  EXPECT_EQ(parsed.refusal({"--name", "a", "--name", "b", "--name"}),
            "--name needs a value, as in --name NAME; see 'holdfast test --help'");
  EXPECT_EQ(parsed.refusal({"--nam", "a"}), "unknown option \"--nam\"; did you mean '--name'?");
}

}  // namespace
}  // namespace holdfast::test
