// SPDX-License-Identifier: Apache-2.0
#include "cli/process/ladder.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using Rung = Ladder::Rung;

constexpr LocalTime start{1000s};
constexpr LadderOptions terms{
    .on_lost = OnLost::term, .kill_after = 5s, .margin = 100ms, .refresh = 60s};

LadderOptions with(OnLost on_lost) {
  auto options = terms;
  options.on_lost = on_lost;
  return options;
}

TEST(Ladder, leaves_a_command_alone_whose_lease_has_time) {
  Ladder ladder(terms);
  const auto step = ladder.look(start, start + 30s, false);
  EXPECT_EQ(step.signal, Rung::none);
  EXPECT_EQ(step.look_again, start + 30s - 5s - 100ms);
  EXPECT_EQ(step.dead_by, start + 30s - 100ms);
  EXPECT_FALSE(ladder.has_started());
}

TEST(Ladder, ends_before_the_lease_does) {
  Ladder ladder(terms);
  const auto end = start + 30s;
  auto step = ladder.look(start, end, false);
  step = ladder.look(step.look_again, end, false);
  EXPECT_EQ(step.signal, Rung::term);
  EXPECT_EQ(step.look_again, end - 100ms);
  step = ladder.look(step.look_again - 1ms, end, false);
  EXPECT_EQ(step.signal, Rung::none);
  step = ladder.look(step.look_again, end, false);
  EXPECT_EQ(step.signal, Rung::kill);
  EXPECT_EQ(step.dead_by, end - 100ms) << "the guard must not be told to let it live";
}

TEST(Ladder, starts_at_once_when_the_store_says_that_the_lease_is_over) {
  Ladder ladder(terms);
  const auto step = ladder.look(start, start + 30s, true);
  EXPECT_EQ(step.signal, Rung::term);
  EXPECT_EQ(step.look_again, start + 5s);
  EXPECT_EQ(ladder.look(start + 5s, start + 30s, true).signal, Rung::kill);
}

TEST(Ladder, kills_without_asking_when_it_looks_too_late) {
  Ladder ladder(terms);
  EXPECT_EQ(ladder.look(start + 30s, start + 30s, false).signal, Rung::kill);
  Ladder woken(terms);
  EXPECT_EQ(woken.look(start + 31s, start + 30s, true).signal, Rung::kill);
}

TEST(Ladder, goes_on_although_the_lease_was_renewed_after_the_first_rung) {
  Ladder ladder(terms);
  EXPECT_EQ(ladder.look(start, start + 2s, false).signal, Rung::term);
  EXPECT_EQ(ladder.look(start + 2s, start + 60s, false).signal, Rung::kill);
}

TEST(Ladder, has_one_rung_if_asked_to_kill) {
  Ladder ladder(with(OnLost::kill));
  const auto step = ladder.look(start, start + 30s, false);
  EXPECT_EQ(step.look_again, start + 30s - 100ms);
  EXPECT_EQ(ladder.look(step.look_again, start + 30s, false).signal, Rung::kill);
  Ladder told(with(OnLost::kill));
  EXPECT_EQ(told.look(start, start + 30s, true).signal, Rung::kill);
}

TEST(Ladder, does_nothing_if_asked_to_ignore) {
  Ladder ladder(with(OnLost::ignore));
  const auto step = ladder.look(start + 60s, start, true);
  EXPECT_EQ(step.signal, Rung::none);
  EXPECT_EQ(step.look_again, LocalTime::max());
  EXPECT_EQ(step.dead_by, LocalTime::max());
}

TEST(Ladder, looks_often_enough_to_tell_the_guard_of_renewals) {
  for (const auto on_lost : {OnLost::term, OnLost::kill}) {
    auto options = with(on_lost);
    options.refresh = 5s;
    Ladder ladder(options);
    const auto step = ladder.look(start, start + 30s, false);
    EXPECT_EQ(step.look_again, start + 5s);
    EXPECT_EQ(step.dead_by, start + 30s - 100ms);
  }
}

TEST(Ladder, says_each_thing_once) {
  Ladder ladder(terms);
  EXPECT_EQ(ladder.look(start, start + 30s, true).signal, Rung::term);
  EXPECT_EQ(ladder.look(start + 1s, start + 30s, true).signal, Rung::none);
  EXPECT_EQ(ladder.look(start + 9s, start + 30s, true).signal, Rung::kill);
  EXPECT_EQ(ladder.look(start + 10s, start + 30s, true).signal, Rung::none);
}

TEST(Ladder, leaves_a_margin_that_fits_the_ttl) {
  EXPECT_EQ(kill_margin(30s), 100ms);
  EXPECT_EQ(kill_margin(1s), 50ms);
  EXPECT_EQ(kill_margin(20ms), 1ms);
}

}  // namespace
}  // namespace holdfast::cli
