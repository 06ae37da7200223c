// SPDX-License-Identifier: Apache-2.0
#include "cli/look/lock_text.hpp"

#include "cli/look/display.hpp"
#include "cli/some_locks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using test::evening;
using test::held;
using test::said;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LockText, a_lock_that_nobody_holds_is_free) {
  EXPECT_THAT(status_lines({.name = "x"}, evening), ElementsAre("x: free"));
}

TEST(LockText, a_holder_is_shown_with_all_that_is_known_of_it) {
  auto lock = held("orders", {.held_for = 125s, .remaining = 28s, .fence = 42});
  EXPECT_THAT(
      status_lines(lock, evening),
      ElementsAre("orders: mutex, held", "held by", "  report on web-1, pid 4711 (exclusive)",
                  "    since    2026-11-15 20:57:55 UTC (2m 5s)", "    left     28s",
                  "    fence    42", "    note     nightly"));
}

TEST(LockText, a_queue_is_shown_in_its_order) {
  auto lock = held("orders", {});
  lock.waiters.push_back({.waiting_for = 250ms, .metadata = said("first", "web-2", "")});
  lock.waiters.push_back({.permits = all_permits, .waiting_for = 3s, .metadata = nullptr});
  const auto lines = status_lines(lock, evening);
  EXPECT_EQ(lines.front(), "orders: mutex, held, 2 waiting");
  EXPECT_EQ(lines[lines.size() - 2], "   1  first on web-2, pid 4711 (exclusive), for 250ms");
  EXPECT_EQ(lines.back(), "   2  unknown (exclusive), for 3.0s");
}

TEST(LockText, a_quorum_is_shown_with_a_row_for_each_member) {
  using State = MemberView::State;
  LockView lock{.name = "orders"};
  lock.members = {
      {.address = "a:1", .state = State::held, .fence = 42, .holders = 1, .remaining = 28s},
      {.address = "b:2", .state = State::too_slow, .counts = false, .reason = "no answer"},
      {.address = "c:3", .counts = false, .reason = "was restarted; counts again in 3.0 s"},
      {.address = "d:4"}};
  EXPECT_THAT(
      status_lines(lock, evening),
      ElementsAre("orders: free", "members", "  ADDRESS  STATE     FENCE  LEFT  NOTE",
                  "  a:1      held      42      28s", "  b:2      too slow               no answer",
                  "  c:3      free                   not counted: was restarted; counts "
                  "again in 3.0 s",
                  "  d:4      free"));
}

TEST(LockText, what_holders_say_of_themselves_cannot_disturb_a_terminal) {
  auto lock = held("orders", {});
  lock.holders[0].metadata = said("\x1b[31mevil", "h\nost", "\x1b]0;title\x07");
  for (const auto& lines : {status_lines(lock, evening), list_lines(std::span(&lock, 1), 80)}) {
    for (const auto& line : lines) {
      EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
      EXPECT_EQ(line.find('\x07'), std::string::npos) << line;
    }
  }
}

TEST(LockText, shares_have_their_own_words) {
  EXPECT_EQ(share(Kind::mutex, all_permits), "exclusive");
  EXPECT_EQ(share(Kind::read_write, 1), "shared");
  EXPECT_EQ(share(Kind::semaphore, 1), "1 permit");
  EXPECT_EQ(share(Kind::semaphore, 3), "3 permits");
  EXPECT_EQ(share(Kind::election, 1), "exclusive");
}

TEST(LockText, the_lock_that_was_held_longest_comes_first_and_one_without_holders_last) {
  std::vector<LockView> locks{held("young", {.held_for = 1s}),
                              {.name = "waited-for"},
                              held("b-old", {.held_for = 9s}),
                              held("a-old", {.held_for = 9s})};
  sort_by_age(locks);
  std::vector<std::string> names;
  names.reserve(locks.size());
  for (const auto& lock : locks) names.push_back(lock.name);
  EXPECT_THAT(names, ElementsAre("a-old", "b-old", "young", "waited-for"));
}

TEST(LockText, a_list_is_cut_to_the_width_of_a_terminal_and_to_nothing_else) {
  const std::string name(200, 'n');
  const auto lock = held(name, {});
  for (const auto& line : list_lines(std::span(&lock, 1), 70)) EXPECT_LE(display_width(line), 70U);
  EXPECT_THAT(list_lines(std::span(&lock, 1), std::nullopt), Contains(HasSubstr(name)));
}

TEST(LockText, columns_are_aligned_by_what_a_terminal_shows) {
  const std::vector<LockView> locks{held("世界", {}), held("abcd", {})};
  const auto lines = list_lines(locks, std::nullopt);
  const auto column = [](const std::string& line) {
    return display_width(line.substr(0, line.find("mutex")));
  };
  EXPECT_EQ(column(lines[1]), column(lines[2]));
}

}  // namespace
}  // namespace holdfast::cli
