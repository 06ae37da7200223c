// SPDX-License-Identifier: Apache-2.0
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <csignal>
#include <sstream>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

constexpr auto entered = "\x1b[?1049h";
constexpr auto left = "\x1b[?1049l";

class Watch : public Cli {
 protected:
  void take(const std::string& name, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"acquire", name});
    const auto done = holdfast(more);
    ASSERT_EQ(done.code, 0) << done.err;
  }
  ProgramOptions on_terminal(std::vector<std::string> environment = {"TERM=xterm"}) const {
    return with({.environment = std::move(environment), .terminal = true});
  }
  // What it wrote after this call.
  static bool says_anew(Program& program, const std::string& text) {
    const auto before = program.out().size();
    return eventually([&] { return program.out().find(text, before) != std::string::npos; });
  }
};

TEST_F(Watch, shows_locks_on_the_whole_terminal_and_gives_it_back) {
  take("orders:42");
  Program person(words({"watch"}), on_terminal());
  ASSERT_TRUE(person.says("orders:42"));
  EXPECT_THAT(person.out(), HasSubstr(entered));
  EXPECT_THAT(person.out(), HasSubstr("█"));
  EXPECT_THAT(person.out(), HasSubstr("\x1b[32m"));
  EXPECT_THAT(person.out(), Not(HasSubstr(left)));
  person.type("q");
  EXPECT_EQ(person.wait(), 0);
  EXPECT_THAT(person.out(), HasSubstr(left));
  EXPECT_THAT(person.out(), HasSubstr("\x1b[?25h"));
}

TEST_F(Watch, follows_what_happens) {
  Program person(words({"watch", "--every", "100ms"}), on_terminal());
  ASSERT_TRUE(person.says("no locks"));
  take("orders:42", {"--owner", "me"});
  ASSERT_TRUE(person.says("orders:42"));
  ASSERT_EQ(holdfast({"release", "orders:42", "--owner", "me"}).code, 0);
  EXPECT_TRUE(says_anew(person, "no locks"));
  person.type("\x1b");
  EXPECT_EQ(person.wait(), 0);
}

TEST_F(Watch, draws_itself_anew_when_the_terminal_changes_its_size) {
  take("orders:42");
  Program person(words({"watch"}), on_terminal());
  ASSERT_TRUE(person.says("HOLDER"));
  person.resize(5, 20);
  EXPECT_TRUE(says_anew(person, "\x1b[5;1H"));
  EXPECT_TRUE(
      eventually([&] { return person.out().rfind("\x1b[24;1H") < person.out().rfind("\x1b[2J"); }));
  person.resize(40, 120);
  EXPECT_TRUE(says_anew(person, "\x1b[40;1H"));
  person.type("q");
  EXPECT_EQ(person.wait(), 0);
}

TEST_F(Watch, gives_the_terminal_back_whatever_ends_it) {
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT}) {
    Program person(words({"watch"}), on_terminal());
    ASSERT_TRUE(person.says("no locks"));
    person.signal(signal);
    EXPECT_EQ(person.wait(), 1000 + signal);
    EXPECT_THAT(person.out(), HasSubstr(left)) << signal;
  }
  Program person(words({"watch"}), on_terminal());
  ASSERT_TRUE(person.says("no locks"));
  person.type("\x03");
  EXPECT_EQ(person.wait(), 0);
  EXPECT_THAT(person.out(), HasSubstr(left));
}

TEST_F(Watch, can_be_put_to_sleep_and_woken_as_any_job) {
  const auto script =
      "set -m; " + std::string(HOLDFAST_BINARY) + " watch; echo slept; stty -a; fg; echo code=$?";
  Program shell({"bash", "--norc", "-c", script}, on_terminal());
  ASSERT_TRUE(shell.says("no locks"));
  shell.type("\x1a");
  ASSERT_TRUE(shell.says("slept"));
  EXPECT_LT(shell.out().find(left), shell.out().find("slept"));
  ASSERT_TRUE(shell.says(" icanon"));
  EXPECT_TRUE(says_anew(shell, "no locks"));
  shell.type("q");
  EXPECT_TRUE(shell.says("code=0")) << shell.out();
  shell.wait();
}

TEST_F(Watch, scrolls_and_filters_by_keys) {
  for (int i = 0; i < 9; ++i) take("lock-" + std::to_string(i));
  Program person(words({"watch"}), on_terminal());
  ASSERT_TRUE(person.says("lock-0"));
  person.resize(6, 80);
  ASSERT_TRUE(person.says("1–3 of 9"));
  person.type("j");
  ASSERT_TRUE(person.says("2–4 of 9"));
  person.type("\x1b[B");
  ASSERT_TRUE(person.says("3–5 of 9"));
  person.type("G");
  ASSERT_TRUE(person.says("7–9 of 9"));
  person.type("/lock-5\r");
  ASSERT_TRUE(person.says("lock-5*"));
  ASSERT_TRUE(person.says("1 lock "));
  person.type("q");
  EXPECT_EQ(person.wait(), 0);
}

TEST_F(Watch, shows_what_is_wrong_with_the_store_and_goes_on_trying) {
  RedisServer server;
  Program person(words({"watch", "--every", "100ms", "--store", server.url()}), on_terminal());
  ASSERT_TRUE(person.says("no locks"));
  server.kill();
  ASSERT_TRUE(person.says("trying again"));
  server.restart();
  ASSERT_TRUE(says_anew(person, "q quit"));
  person.type("q");
  EXPECT_EQ(person.wait(), 0);
}

TEST_F(Watch, has_no_colours_where_they_are_unwanted) {
  take("x");
  Program person(words({"watch"}), on_terminal({"TERM=xterm", "NO_COLOR=1"}));
  ASSERT_TRUE(person.says("█"));
  person.type("q");
  EXPECT_EQ(person.wait(), 0);
  EXPECT_THAT(person.out(), Not(HasSubstr("\x1b[32m")));
}

TEST_F(Watch, lets_nothing_raw_through_that_holders_wrote) {
  // The program's name is the holder's own word; a terminal must not obey it.
  ASSERT_EQ(
      run({"bash", "-c", "exec -a $'\\e]0;evil' " + std::string(HOLDFAST_BINARY) + " acquire x"},
          with({}))
          .code,
      0);
  Program person(words({"watch"}), on_terminal());
  ASSERT_TRUE(person.says("\\x1b]0;evil"));
  person.type("q");
  EXPECT_EQ(person.wait(), 0);
  EXPECT_THAT(person.out(), Not(HasSubstr("\x1b]0;")));
}

TEST_F(Watch, outside_of_a_terminal_prints_lines) {
  take("x");
  const auto done = holdfast({"watch", "--count", "2", "--every", "100ms"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(std::ranges::count(done.out, '\n'), 2);
  EXPECT_THAT(done.out, HasSubstr("  x  holdfast on "));
  EXPECT_THAT(done.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(holdfast({"watch", "--count", "1", "none"}).out, HasSubstr("no locks"));
}

TEST_F(Watch, as_json_prints_one_object_for_each_look) {
  take("x");
  std::istringstream lines(holdfast({"watch", "--json", "--count", "3", "--every", "100ms"}).out);
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(json::parse(line).at("locks").at(0).at("name"), "x");
    ++count;
  }
  EXPECT_EQ(count, 3);
}

TEST_F(Watch, refuses_an_interval_that_is_no_good) {
  EXPECT_EQ(holdfast({"watch", "--every", "1ms"}).code, 64);
  EXPECT_EQ(holdfast({"watch", "--every", "2h"}).code, 64);
  EXPECT_EQ(holdfast({"watch", "--count", "0"}).code, 64);
  EXPECT_EQ(holdfast({"watch", "--count", "1"}, {.stdout_to = "/dev/full"}).code, 74);
}

}  // namespace
}  // namespace holdfast::test
