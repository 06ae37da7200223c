// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/frame.hpp"

#include "cli/look/display.hpp"
#include "cli/some_locks.hpp"
#include "cli/watch/bar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using test::evening;
using test::held;
using test::said;
using testing::HasSubstr;
using testing::Not;

View view_of(std::vector<LockView> locks) {
  View view;
  view.store = "file:/var/lib/holdfast";
  see(view, {.locks = std::move(locks), .is_complete = true}, evening);
  return view;
}

View many(std::size_t count) {
  std::vector<LockView> locks;
  locks.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    locks.push_back(held("lock-" + std::to_string(i), {.fence = i + 1}));
  }
  return view_of(std::move(locks));
}

std::string joined(const std::vector<std::string>& lines) {
  return std::accumulate(lines.begin(), lines.end(), std::string(),
                         [](const auto& all, const auto& line) { return all + line + "\n"; });
}

TEST(Frame, fits_every_size_of_terminal_from_one_cell_on) {
  auto view = many(30);
  view.locks[0].name = std::string(300, 'x') + "世界";
  view.locks[1].waiters.resize(12);
  for (const std::size_t rows : {1, 2, 3, 4, 5, 6, 24}) {
    for (std::size_t columns = 1; columns < 130; ++columns) {
      const auto lines = frame_lines(view, {rows, columns}, evening);
      ASSERT_LE(lines.size(), rows) << columns;
      for (const auto& line : lines) ASSERT_LE(display_width(line), columns) << rows << line;
    }
  }
}

TEST(Frame, shows_locks_holders_times_and_the_queue) {
  auto lock = held("orders:42", {.held_for = 125s, .remaining = 20s});
  lock.waiters.push_back({.waiting_for = 1s, .metadata = said("second", "web-2", "")});
  const auto shown = joined(frame_lines(view_of({lock}), {24, 120}, evening));
  for (const auto* part : {"1 lock, 1 waiting", "file:/var/lib/holdfast", "21:00:00", "NAME",
                           "orders:42", "report on web-1", "2m 5s", "20s", "1: second on web-2"}) {
    EXPECT_THAT(shown, HasSubstr(part));
  }
}

TEST(Frame, leases_grow_shorter_between_two_looks_at_the_store) {
  const auto view = view_of({held("x", {.held_for = 10s, .remaining = 20s})});
  const auto later = joined(frame_lines(view, {24, 100}, evening + 5s));
  EXPECT_THAT(later, HasSubstr("15s"));
  EXPECT_THAT(joined(frame_lines(view, {24, 100}, evening + 60s)), HasSubstr("0s"));
}

TEST(Frame, says_so_when_there_are_no_locks) {
  EXPECT_THAT(joined(frame_lines(view_of({}), {5, 20}, evening)), HasSubstr("no locks"));
  auto view = view_of({held("a", {})});
  view.filter = "b";
  EXPECT_THAT(joined(frame_lines(view, {24, 80}, evening)), HasSubstr("no lock begins with b"));
}

TEST(Frame, of_a_small_terminal_still_has_the_names_and_what_is_left) {
  const auto shown = joined(frame_lines(view_of({held("orders", {})}), {5, 20}, evening));
  EXPECT_THAT(shown, HasSubstr("orders"));
  EXPECT_THAT(shown, HasSubstr("20s"));
  EXPECT_THAT(shown, HasSubstr("q quit"));
}

TEST(Frame, trouble_with_the_store_is_in_the_last_line_and_the_locks_stay) {
  auto view = many(3);
  view.trouble = "127.0.0.1:6379: connection \x1b[31mrefused";
  const auto lines = frame_lines(view, {24, 80}, evening);
  EXPECT_THAT(lines.back(), HasSubstr("127.0.0.1:6379: connection \\x1b[31mrefused"));
  EXPECT_THAT(joined(lines), HasSubstr("lock-2"));
}

TEST(Frame, nothing_that_others_wrote_reaches_the_terminal_raw) {
  auto lock = held("ok", {});
  lock.holders[0].metadata = said("\x1b[2J", "\x9b", "\x1b[2J");
  lock.waiters.push_back({.waiting_for = 1s, .metadata = said("\r\n", "\x1b[H", "")});
  EXPECT_THAT(joined(frame_lines(view_of({lock}), {24, 100}, evening)), Not(HasSubstr("\x1b")));
}

TEST(Frame, scrolling_moves_by_lines_and_pages_and_stops_at_both_ends) {
  auto view = many(20);
  const std::size_t rows = rows_for_locks({10, 80});
  EXPECT_EQ(rows, 7U);
  EXPECT_TRUE(press(view, {Key::What::up}, rows));
  EXPECT_EQ(view.top, 0U);
  EXPECT_TRUE(press(view, {Key::What::text, "j"}, rows));
  EXPECT_TRUE(press(view, {Key::What::down}, rows));
  EXPECT_EQ(view.top, 2U);
  EXPECT_TRUE(press(view, {Key::What::page_down}, rows));
  EXPECT_EQ(view.top, 8U);
  EXPECT_TRUE(press(view, {Key::What::end}, rows));
  EXPECT_EQ(view.top, 13U);
  EXPECT_THAT(joined(frame_lines(view, {10, 80}, evening)), HasSubstr("14–20 of 20"));
  EXPECT_TRUE(press(view, {Key::What::home}, rows));
  EXPECT_EQ(view.top, 0U);
}

TEST(Frame, a_list_that_became_shorter_is_still_in_sight) {
  auto view = many(20);
  view.top = 13;
  see(view, {.locks = {held("only", {})}, .is_complete = true}, evening);
  keep_in_sight(view, 7);
  EXPECT_EQ(view.top, 0U);
}

TEST(Frame, a_filter_is_typed_shown_and_taken_back) {
  auto view = view_of({held("abc", {}), held("abd", {}), held("xyz", {})});
  EXPECT_TRUE(press(view, {Key::What::text, "/"}, 5));
  for (const auto* letter : {"a", "b", "q"}) EXPECT_TRUE(press(view, {Key::What::text, letter}, 5));
  EXPECT_THAT(frame_lines(view, {24, 80}, evening).back(), HasSubstr("begin with: abq"));
  EXPECT_TRUE(press(view, {Key::What::backspace}, 5));
  EXPECT_TRUE(press(view, {Key::What::enter}, 5));
  EXPECT_EQ(shown(view).size(), 2U);
  EXPECT_TRUE(press(view, {Key::What::escape}, 5)) << "the first Esc only drops the filter";
  EXPECT_EQ(shown(view).size(), 3U);
  EXPECT_FALSE(press(view, {Key::What::escape}, 5));
}

TEST(Frame, q_ends_it) {
  EXPECT_FALSE(press(*std::make_unique<View>(), {Key::What::text, "q"}, 5));
}

TEST(Bar, shrinks_in_eighths_and_whatever_is_left_can_be_seen) {
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(0.5, 4), "██░░");
  EXPECT_EQ(bar(0, 4), "░░░░");
  EXPECT_EQ(bar(0.001, 4), "▏░░░");
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(display_width(bar(i / 100.0, 7)), 7U) << i;
}

TEST(Bar, changes_its_colour_as_it_shrinks) {
  EXPECT_EQ(bar_style(0.9), Style::green);
  EXPECT_EQ(bar_style(0.4), Style::yellow);
  EXPECT_EQ(bar_style(0.1), Style::red);
}

TEST(Bar, is_full_right_after_a_renewal) {
  View view;
  see(view, {.locks = {held("x", {.held_for = 10s, .remaining = 20s})}, .is_complete = true},
      evening);
  EXPECT_EQ(length_of(view, view.locks[0].holders[0]), 30s);
  see(view, {.locks = {held("x", {.held_for = 20s, .remaining = 60s})}, .is_complete = true},
      evening);
  EXPECT_EQ(length_of(view, view.locks[0].holders[0]), 60s);
  see(view, {.locks = {held("x", {.held_for = 50s, .remaining = 30s})}, .is_complete = true},
      evening);
  EXPECT_EQ(length_of(view, view.locks[0].holders[0]), 60s);
}

}  // namespace
}  // namespace holdfast::cli
