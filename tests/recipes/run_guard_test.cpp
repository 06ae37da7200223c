// SPDX-License-Identifier: Apache-2.0
//
// Runs that take long, are paused, lost or taken over, and a store that does not answer.
#include "recipes/run_fixture.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

class RunGuard : public RunTest {};
class RunWait : public RunTest {};
class RunOverABadLine : public RunTest {};

TEST_F(RunGuard, a_run_that_takes_longer_than_its_guard_is_not_run_twice) {
  auto run = begin({.guard = 1s});
  for (int second = 0; second < 30; ++second) {
    advance(1s);
    ASSERT_EQ(other_asks().ending, Ending::in_progress);
    ASSERT_TRUE(run.valid());
  }
  EXPECT_TRUE(run.complete({.body = "at last"}));
  EXPECT_EQ(other_asks().answer.body, "at last");
  EXPECT_EQ(runtime->timers(), 0U) << "nothing is renewed after its end";
}

TEST_F(RunGuard, without_a_sign_of_life_it_is_lost_before_anybody_can_take_over) {
  auto run = begin({.guard = 1s, .renew = false});
  while (run.valid()) {
    ASSERT_EQ(other_asks().ending, Ending::in_progress) << "nobody has it while it is believed in";
    advance(1ms);
  }
  EXPECT_TRUE(run.lost().stop_requested());
  advance(100ms);
  EXPECT_EQ(other_asks().answer.body, "taken over");
}

TEST_F(RunGuard, one_that_was_believed_dead_cannot_overwrite_the_winner) {
  auto slow = begin({.guard = 1s});
  runtime->stall(5s);
  EXPECT_FALSE(slow.valid()) << "by the clock alone";
  auto winner = value_of(other.begin_run("payment-1"));
  ASSERT_TRUE(winner.run);
  EXPECT_TRUE(winner.run->took_over());
  EXPECT_GT(winner.run->fence(), slow.fence());
  EXPECT_EQ(error_of(slow.complete({.body = "too late"})), Errc::lost);
  EXPECT_EQ(other_asks().ending, Ending::in_progress) << "the winner goes on";
  EXPECT_TRUE(winner.run->complete({.body = "the winner's"}));
  EXPECT_EQ(other_asks().answer.body, "the winner's");
}

TEST_F(RunGuard, a_late_failure_does_not_end_the_winner_either) {
  auto slow = begin({.guard = 1s});
  runtime->stall(5s);
  auto winner = value_of(other.begin_run("payment-1"));
  EXPECT_EQ(error_of(slow.fail("I give up")), Errc::lost);
  EXPECT_TRUE(winner.run->complete({}));
}

TEST_F(RunGuard, a_run_that_is_dropped_is_abandoned_at_once) {
  {
    auto run = begin();
  }
  EXPECT_EQ(other_asks({.take_over = TakeOver::refuse}).ending, Ending::unknown);
  EXPECT_EQ(other_asks().answer.body, "taken over");
}

TEST_F(RunGuard, a_run_ends_once) {
  auto run = begin();
  EXPECT_TRUE(run.complete({.body = "1"}));
  EXPECT_EQ(error_of(run.complete({.body = "2"})), Errc::lost);
  EXPECT_EQ(error_of(run.fail("3")), Errc::lost);
  EXPECT_EQ(other_asks().answer.body, "1");
}

TEST_F(RunGuard, is_lost_when_the_store_cannot_be_reached_for_so_long) {
  auto run = begin({.guard = 1s});
  line->pause();
  advance(999ms);
  EXPECT_TRUE(run.lost().stop_requested());
  line->resume();
  EXPECT_EQ(other_asks().ending, Ending::in_progress) << "the signal came first";
}

TEST_F(RunWait, ends_with_the_answer_of_whoever_ran) {
  auto run = begin();
  auto waiting = other_waits(1min);
  advance(3s);
  ASSERT_FALSE(waiting.done());
  EXPECT_TRUE(run.complete({.body = "x"}));
  advance(400ms);
  const auto told = value_of(waiting.result());
  EXPECT_FALSE(told.outcome.done);
  EXPECT_EQ(told.outcome.answer.body, "x");
}

TEST_F(RunWait, ends_with_the_run_itself_if_the_first_one_dies) {
  auto run = begin({.guard = 1s, .renew = false});
  auto waiting = other_waits(1min);
  advance(1500ms);
  const auto told = value_of(waiting.result());
  EXPECT_TRUE(told.outcome.done);
  EXPECT_EQ(told.outcome.found, RunFound::abandoned);
}

TEST_F(RunWait, that_was_in_vain_says_that_it_is_under_way) {
  auto run = begin();
  auto waiting = other_waits(2s);
  advance(1999ms);
  EXPECT_FALSE(waiting.done());
  advance(1ms);
  EXPECT_EQ(value_of(waiting.result()).outcome.found, RunFound::in_progress);
  EXPECT_LT(other_line->count(Verb::run_begin), 20U) << "nobody asks without end";
}

TEST_F(RunWait, is_over_when_it_is_cancelled) {
  auto run = begin();
  std::stop_source stop;
  auto waiting = other_waits(1min, stop.get_token());
  advance(1s);
  stop.request_stop();
  advance(1ms);
  EXPECT_EQ(error_of(waiting.result()), Errc::cancelled);
}

TEST_F(RunOverABadLine, a_lost_answer_to_begin_is_asked_for_again_and_is_the_same_run) {
  other_line->script(Verb::run_begin, Fault::lose_reply(), 2);
  auto waiting = other_waits(1min);
  advance(5s);
  const auto told = value_of(waiting.result());
  EXPECT_TRUE(told.outcome.done);
  EXPECT_EQ(told.outcome.found, RunFound::nothing) << "it was not taken over from itself";
}

TEST_F(RunOverABadLine, whoever_gives_up_beginning_leaves_nothing_behind) {
  other_line->script(Verb::run_begin, Fault::lose_reply());
  auto waiting = other_waits(0s);
  advance(1s);
  EXPECT_EQ(error_of(waiting.result()), Errc::outcome_unknown);
  advance(1s);
  EXPECT_FALSE(begin().took_over()) << "nothing ran, so there is nothing to look for";
}

TEST_F(RunOverABadLine, an_owner_that_comes_back_finds_the_run_that_it_may_have_begun) {
  auto terms = recipes::make_terms(*other.core(), {}).value();
  terms.is_owner_known = true;
  const auto name = recipes::run_name("payment-1").value();
  other_line->script(Verb::run_begin, Fault::lose_reply());
  Beginning first(recipes::begin_run(other.core(), name, terms, 0s, {}));
  advance(1s);
  EXPECT_EQ(error_of(first.result()), Errc::outcome_unknown);
  Beginning again(recipes::begin_run(other.core(), name, terms, 0s, {}));
  EXPECT_TRUE(value_of(again.result()).outcome.done);
  advance(15s);
  auto begun = value_of(client.begin_run("payment-1"));
  EXPECT_EQ(begun.instead.ending, Ending::in_progress) << "nothing was taken back from under it";
}

TEST_F(RunOverABadLine, the_last_word_is_repeated_until_it_is_heard) {
  for (const auto fault : {Fault::lose_reply(), Fault::lose_request(), Fault::refuse()}) {
    const auto key = std::to_string(static_cast<int>(fault.kind));
    line->script(Verb::run_complete, fault, 3);
    auto terms = recipes::make_terms(*client.core(), {}).value();
    const auto name = recipes::run_name(key).value();
    Running<Result<recipes::Beginning>> beginning(
        recipes::begin_run(client.core(), name, terms, 0s, {}));
    Running<Result<void>> ending(
        recipes::say_last_word(client.core(), name, terms.complete({.body = key})));
    advance(5s);
    EXPECT_TRUE(ending.result());
    EXPECT_EQ(other_asks({}, key).answer.body, key);
  }
}

TEST_F(RunOverABadLine, a_store_that_stays_away_leaves_a_run_that_was_abandoned) {
  auto terms = recipes::make_terms(*client.core(), {.guard = 1s}).value();
  const auto name = recipes::run_name("payment-1").value();
  Running<Result<recipes::Beginning>> beginning(
      recipes::begin_run(client.core(), name, terms, 0s, {}));
  line->pause();
  Running<Result<void>> ending(recipes::say_last_word(client.core(), name, terms.complete({})));
  advance(30s);
  EXPECT_FALSE(ending.result());
  EXPECT_EQ(other_asks().answer.body, "taken over");
}

}  // namespace
}  // namespace holdfast::test
