// SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include "cli/commands/commands.hpp"
#include "cli/declared.hpp"
#include "cli/holdfast_program.hpp"
#include "cli/suggest.hpp"
#include "cli/wrap.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace holdfast::test {
namespace {

using cli::wrapped;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Wrap, fills_lines_up_to_the_width) {
  EXPECT_EQ(wrapped("one two three", 0, 7), "one two\nthree\n");
  EXPECT_EQ(wrapped("one two three", 2, 9), "  one two\n  three\n");
  EXPECT_EQ(wrapped("", 2, 9), "");
  EXPECT_EQ(wrapped("enormous", 0, 3), "enormous\n");
}

TEST(Wrap, keeps_paragraphs_and_indented_lines) {
  EXPECT_EQ(wrapped("one\ntwo\n\nthree", 0, 80), "one two\n\nthree\n");
  EXPECT_EQ(wrapped("one:\n\n    a  b\n    c\n\ntwo", 0, 80), "one:\n\n    a  b\n    c\n\ntwo\n");
}

TEST(Wrap, counts_characters_and_not_bytes) {
  EXPECT_EQ(cli::columns("a…ü"), 3U);
  EXPECT_EQ(wrapped("äää ööö", 0, 7), "äää ööö\n");
}

TEST(Wrap, puts_a_text_beside_its_head_or_below_a_long_one) {
  EXPECT_EQ(cli::beside("a", "text", 6), "  a   text\n");
  EXPECT_EQ(cli::beside("long", "text", 6), "  long\n      text\n");
  EXPECT_EQ(cli::beside("a", "", 6), "  a\n");
}

TEST(Suggest, finds_the_word_that_was_meant) {
  const std::vector<std::string> known{"status", "list", "release", "run"};
  EXPECT_EQ(cli::did_you_mean("statsu", known), "; did you mean 'status'?");
  EXPECT_EQ(cli::did_you_mean("rel", known), "; did you mean 'release'?");
  EXPECT_EQ(cli::did_you_mean("ls", known), "");
  EXPECT_EQ(cli::did_you_mean("x", known), "");
  EXPECT_EQ(cli::did_you_mean("", known), "");
  EXPECT_EQ(cli::did_you_mean(std::string(100'000, 'x'), known), "");
}

class EveryCommand : public testing::Test {
 protected:
  static std::vector<const cli::Command*> shown() { return cli::shown_commands(); }
};

TEST_F(EveryCommand, has_all_its_texts) {
  for (const auto* command : shown()) {
    SCOPED_TRACE(command->name);
    EXPECT_FALSE(command->summary.empty());
    EXPECT_FALSE(command->summary.ends_with('.')) << "half a sentence, for a list";
    EXPECT_TRUE(command->description.ends_with('.'));
    for (const auto& option : cli::declared(*command).options) {
      EXPECT_FALSE(option.text.empty()) << cli::synopsis(option);
      EXPECT_FALSE(option.text.ends_with('.')) << cli::synopsis(option);
    }
    for (const auto& example : command->examples) {
      EXPECT_NE(example.line.find("holdfast"), std::string_view::npos);
      EXPECT_FALSE(example.meaning.empty());
    }
  }
}

TEST_F(EveryCommand, fits_into_80_columns) {
  for (const auto& line : lines_of(cli::overview())) EXPECT_LE(cli::columns(line), 80U) << line;
  for (const auto* command : shown()) {
    for (const auto& line : lines_of(cli::help(*command))) {
      EXPECT_LE(cli::columns(line), 80U) << command->name << ": " << line;
    }
  }
}

TEST_F(EveryCommand, says_the_words_that_it_declares) {
  for (const auto* command : shown()) {
    const auto text = cli::help(*command);
    for (const auto& option : cli::declared(*command).options) {
      EXPECT_NE(text.find(cli::synopsis(option)), std::string::npos) << cli::synopsis(option);
    }
    const auto first_word = command->name.substr(0, command->name.find(' '));
    EXPECT_NE(cli::overview().find(std::string(first_word)), std::string::npos);
  }
}

TEST_F(Cli, helps_in_three_ways) {
  const auto shown = holdfast({"config", "--help"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(shown.out.starts_with("usage: holdfast config [OPTIONS]\n")) << shown.out;
  EXPECT_EQ(shown.err, "");
  EXPECT_EQ(holdfast({"help", "config"}).out, shown.out);
  EXPECT_EQ(holdfast({"--help", "config"}).out, shown.out);
  EXPECT_EQ(holdfast({"help"}).out, holdfast({"--help"}).out);
}

TEST_F(Cli, does_not_show_hidden_commands) {
  EXPECT_EQ(holdfast({"--help"}).out.find("man-pages"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::test
