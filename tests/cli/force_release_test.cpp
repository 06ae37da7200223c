// SPDX-License-Identifier: Apache-2.0
#include "cli/confirm.hpp"
#include "cli/holdfast_program.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ForceRelease : public Cli {
 protected:
  void SetUp() override { ASSERT_EQ(holdfast({"acquire", "x", "--note", "precious"}).code, 0); }
  bool is_held() const { return holdfast({"status", "x"}).out != "x: free\n"; }
};

TEST(Confirm, only_y_and_yes_mean_yes) {
  for (const auto* answer : {"y", "Y", "yes", "YES", " yes\r"}) EXPECT_TRUE(cli::means_yes(answer));
  for (const auto* answer : {"", " ", "n", "no", "yep", "yes please"}) {
    EXPECT_FALSE(cli::means_yes(answer)) << answer;
  }
}

TEST_F(ForceRelease, takes_the_lock_away_and_says_so_in_one_line) {
  const auto done = holdfast({"force-release", "x", "--yes", "--reason", "burnt down"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "'x' was taken from 1 holder\n");
  EXPECT_EQ(done.err, "");
  EXPECT_FALSE(is_held());
  EXPECT_EQ(holdfast({"force-release", "x", "--yes", "--reason", "again"}).code, 82);
}

TEST_F(ForceRelease, as_json_says_how_many_lost_it) {
  const auto done = holdfast({"force-release", "x", "-y", "--reason", "why", "--json"});
  EXPECT_EQ(done.out, "{\"name\":\"x\",\"released\":1,\"reason\":\"why\"}\n");
  EXPECT_EQ(done.err, "");
}

TEST_F(ForceRelease, needs_a_reason) {
  EXPECT_EQ(holdfast({"force-release", "x", "--yes"}).code, 64);
  EXPECT_EQ(holdfast({"force-release", "x", "--yes", "--reason", ""}).code, 64);
  EXPECT_TRUE(is_held());
}

TEST_F(ForceRelease, without_a_terminal_needs_a_yes) {
  const auto done = holdfast({"force-release", "x", "--reason", "r"}, {.input = "y\n"});
  EXPECT_EQ(done.code, 64);
  EXPECT_THAT(done.err, HasSubstr("--yes"));
  EXPECT_TRUE(is_held());
}

TEST_F(ForceRelease, shows_a_person_who_would_lose_it_and_asks) {
  Program person(words({"force-release", "x", "--reason", "r"}), with({.terminal = true}));
  ASSERT_TRUE(person.says("[y/N]"));
  EXPECT_THAT(person.out(), HasSubstr("precious"));
  EXPECT_THAT(person.out(), HasSubstr("pid"));
  EXPECT_TRUE(is_held());
  person.type("yes\n");
  EXPECT_EQ(person.wait(), 0);
  EXPECT_THAT(person.out(), HasSubstr("was taken from 1 holder"));
  EXPECT_FALSE(is_held());
}

TEST_F(ForceRelease, changes_nothing_unless_the_answer_is_yes) {
  for (const auto* answer : {"n\n", "\n", "maybe\n", "\x04"}) {
    Program person(words({"force-release", "x", "--reason", "r"}), with({.terminal = true}));
    ASSERT_TRUE(person.says("[y/N]"));
    person.type(answer);
    EXPECT_EQ(person.wait(), 85) << answer;
    EXPECT_THAT(person.out(), HasSubstr("nothing changed"));
  }
  EXPECT_TRUE(is_held());
}

TEST_F(ForceRelease, spares_a_holder_who_was_not_shown) {
  Program person(words({"force-release", "x", "--reason", "r"}), with({.terminal = true}));
  ASSERT_TRUE(person.says("[y/N]"));
  ASSERT_EQ(holdfast({"force-release", "x", "--yes", "--reason", "faster"}).code, 0);
  ASSERT_EQ(holdfast({"acquire", "x"}).code, 0);
  person.type("y\n");
  EXPECT_EQ(person.wait(), 85);
  EXPECT_THAT(person.out(), HasSubstr("changed hands"));
  EXPECT_TRUE(is_held());
}

}  // namespace
}  // namespace holdfast::test
