// SPDX-License-Identifier: Apache-2.0
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

class List : public Cli {
 protected:
  void take(const std::string& name, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"acquire", name});
    const auto done = holdfast(more);
    ASSERT_EQ(done.code, 0) << done.err;
  }
};

TEST_F(List, of_nothing_says_so_on_standard_error) {
  const auto done = holdfast({"list"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, HasSubstr("no locks"));
  EXPECT_EQ(holdfast({"list", "--json"}).out,
            "{\"locks\":[],\"total\":0,\"page\":1,\"next\":null}\n");
}

TEST_F(List, has_the_oldest_lock_first_and_one_line_for_each) {
  take("zebra");
  take("mouse", {"--note", "squeak"});
  const auto done = holdfast({"list"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.err, "");
  EXPECT_TRUE(done.out.starts_with("NAME ")) << done.out;
  EXPECT_LT(done.out.find("zebra"), done.out.find("mouse"));
  EXPECT_THAT(done.out, HasSubstr("squeak"));
  EXPECT_EQ(std::ranges::count(done.out, '\n'), 3);
}

TEST_F(List, can_be_narrowed_to_a_prefix) {
  take("a:1");
  take("b:1");
  EXPECT_THAT(holdfast({"list", "a:"}).out, HasSubstr("a:1"));
  EXPECT_THAT(holdfast({"list", "a:"}).out, Not(HasSubstr("b:1")));
}

TEST_F(List, comes_in_pages) {
  for (const auto* name : {"one", "two", "three"}) take(name);
  const auto first = json::parse(holdfast({"list", "--json", "--limit", "2"}).out);
  EXPECT_EQ(first.at("locks").as_array().size(), 2U);
  EXPECT_EQ(first.at("locks").at(0).at("name"), "one");
  EXPECT_EQ(first.at("total").as_int64(), 3);
  EXPECT_EQ(first.at("next").as_int64(), 2);
  const auto second = json::parse(holdfast({"list", "--json", "--limit", "2", "--page", "2"}).out);
  EXPECT_EQ(second.at("locks").at(0).at("name"), "three");
  EXPECT_TRUE(second.at("next").is_null());
  EXPECT_THAT(holdfast({"list", "--limit", "2"}).err, HasSubstr("--page 2"));
  EXPECT_EQ(holdfast({"list", "--page", "9"}).code, 0);
  EXPECT_EQ(holdfast({"list", "--page", "0"}).code, 64);
  EXPECT_EQ(holdfast({"list", "--limit", "many"}).code, 64);
}

TEST_F(List, never_cuts_a_name_outside_of_a_terminal) {
  const std::string name(400, 'n');
  take(name);
  EXPECT_THAT(holdfast({"list"}).out, HasSubstr(name));
  Program person(words({"list"}), with({.terminal = true}));
  EXPECT_EQ(person.wait(), 0);
  EXPECT_THAT(person.out(), Not(HasSubstr(name)));
  EXPECT_THAT(person.out(), HasSubstr("nnn…"));
}

TEST_F(List, has_colours_on_a_terminal_only_and_not_if_they_are_unwanted) {
  take("x");
  EXPECT_THAT(holdfast({"list"}, {.environment = {"TERM=xterm"}}).out, Not(HasSubstr("\x1b")));
  Program person(words({"list"}), with({.environment = {"TERM=xterm"}, .terminal = true}));
  person.wait();
  EXPECT_THAT(person.out(), HasSubstr("\x1b[1m"));
  Program plain(words({"list"}),
                with({.environment = {"TERM=xterm", "NO_COLOR=1"}, .terminal = true}));
  plain.wait();
  EXPECT_THAT(plain.out(), Not(HasSubstr("\x1b")));
}

TEST_F(List, status_of_a_free_lock_is_no_error) {
  const auto done = holdfast({"status", "never-used"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "never-used: free\n");
}

TEST_F(List, status_shows_holder_note_and_fence_and_no_control_characters) {
  take("x", {"--note", "red \x1b[31m alert"});
  const auto done = holdfast({"status", "x"});
  EXPECT_THAT(done.out, HasSubstr("x: mutex, held\n"));
  EXPECT_THAT(done.out, HasSubstr("note     red \\x1b[31m alert"));
  EXPECT_THAT(done.out, Not(HasSubstr("\x1b")));
}

TEST_F(List, history_of_a_store_without_a_trail_is_refused) {
  EXPECT_EQ(holdfast({"status", "--history", "x"}).code, 86);
  EXPECT_EQ(holdfast({"status", "--limit", "3", "x"}).code, 64);
}

TEST_F(List, history_of_a_store_with_a_trail_is_shown_the_newest_first) {
  const RedisServer server;
  const auto url = server.url() + "?audit=10";
  const auto lease =
      json::parse(holdfast({"acquire", "x", "--json", "--note", "why", "--store", url}).out);
  const std::string owner(lease.at("owner").as_string());
  EXPECT_EQ(holdfast({"release", "x", "--owner", owner, "--store", url}).code, 0);
  const auto done = holdfast({"status", "--history", "x", "--store", url});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.err, "");
  EXPECT_LT(done.out.find("released"), done.out.find("granted")) << done.out;
  const auto as_json =
      json::parse(holdfast({"status", "--history", "--json", "x", "--store", url}).out);
  EXPECT_EQ(as_json.at("name"), "x");
  EXPECT_EQ(as_json.at("events").at(1).at("type"), "granted");
  EXPECT_EQ(as_json.at("events").at(1).at("note"), "why");
  EXPECT_THAT(done.out, Not(HasSubstr(owner)));
}

}  // namespace
}  // namespace holdfast::test
