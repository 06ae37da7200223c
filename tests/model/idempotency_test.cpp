// SPDX-License-Identifier: Apache-2.0
#include "run_fixture.hpp"

namespace holdfast::model {
namespace {

const Answer paid{.status = 201, .headers = R"({"a":"b"})", .body = "{\"id\":7}"};

class Idempotency : public RunTest {};

TEST_F(Idempotency, the_first_one_runs_and_is_guarded) {
  const auto begun = apply(begin_as("ann"));
  EXPECT_TRUE(begun.done);
  EXPECT_EQ(begun.found, RunFound::nothing);
  EXPECT_GT(begun.fence, 0U);
  EXPECT_EQ(begun.remaining, run_guard);
  EXPECT_FALSE(state.took_over);
}

TEST_F(Idempotency, whoever_comes_while_it_runs_is_told_so_and_how_long_at_most) {
  const auto fence = apply(begin_as("ann")).fence;
  now += 3s;
  const auto told = apply(begin_as("ben"));
  EXPECT_FALSE(told.done);
  EXPECT_EQ(told.found, RunFound::in_progress);
  EXPECT_EQ(told.remaining, run_guard - 3s);
  EXPECT_EQ(told.fence, fence);
  EXPECT_EQ(state.owner, "ann");
}

TEST_F(Idempotency, what_it_came_to_is_replayed_until_its_time_is_over) {
  const auto fence = apply(begin_as("ann")).fence;
  const auto kept = apply(complete_as("ann", paid));
  EXPECT_TRUE(kept.done);
  EXPECT_EQ(kept.found, RunFound::in_progress);
  EXPECT_EQ(kept.remaining, run_ttl);
  now += run_ttl - 1us;
  const RunOutcome replay{
      .found = RunFound::completed, .fence = fence, .remaining = 1us, .answer = paid};
  EXPECT_EQ(apply(begin_as("ben")), replay);
  EXPECT_EQ(apply(look_at_run()), replay);
  now += 1us;
  expect(begin_as("ben"), true, RunFound::nothing);
}

TEST_F(Idempotency, a_failure_is_told_for_a_while_and_then_the_next_one_runs) {
  const auto fence = apply(begin_as("ann")).fence;
  EXPECT_TRUE(apply(fail_as("ann", "no money")).done);
  now += run_keep_failure - 1us;
  const RunOutcome told{
      .found = RunFound::failed, .fence = fence, .remaining = 1us, .failure = "no money"};
  EXPECT_EQ(apply(begin_as("ben")), told);
  EXPECT_EQ(apply(look_at_run()), told);
  now += 1us;
  expect(begin_as("ben"), true, RunFound::nothing);
}

TEST_F(Idempotency, a_failure_that_nobody_is_to_know_leaves_nothing) {
  apply(begin_as("ann"));
  const auto gone = apply(fail_as("ann", "never began", 0us));
  EXPECT_TRUE(gone.done);
  EXPECT_EQ(gone.found, RunFound::in_progress);
  EXPECT_EQ(state, RunState{});
  expect(begin_as("ben"), true, RunFound::nothing);
}

TEST_F(Idempotency, another_fingerprint_is_a_mismatch_and_changes_nothing) {
  apply(begin_as("ann", "f"));
  auto before = state;
  EXPECT_EQ(apply(begin_as("ben", "g")), RunOutcome{.found = RunFound::mismatch});
  EXPECT_EQ(apply(begin_as("ann", "g")), RunOutcome{.found = RunFound::mismatch});
  EXPECT_EQ(state, before);
  apply(complete_as("ann", paid));
  before = state;
  EXPECT_EQ(apply(begin_as("ben", "g")), RunOutcome{.found = RunFound::mismatch})
      << "an answer is not for everybody";
  EXPECT_EQ(state, before);
  apply(forget_run());
  abandoned_run("f");
  expect(begin_as("ben", "g"), false, RunFound::mismatch);
  expect(begin_as("ben", "f"), true, RunFound::abandoned);
}

TEST_F(Idempotency, an_empty_fingerprint_agrees_with_any) {
  apply(begin_as("ann", "f"));
  expect(begin_as("ben"), false, RunFound::in_progress);
  now += run_guard;
  expect(begin_as("ben"), true, RunFound::abandoned);
  EXPECT_EQ(state.fingerprint, "f") << "what was known stays known";
  apply(forget_run());
  apply(begin_as("ann"));
  expect(begin_as("ben", "f"), false, RunFound::in_progress);
  apply(complete_as("ann", paid, "f"));
  expect(begin_as("ben", "g"), false, RunFound::mismatch);
}

TEST_F(Idempotency, a_run_without_a_sign_of_life_is_taken_over_with_a_larger_fence) {
  const auto first = abandoned_run();
  const auto next = apply(begin_as("ben"));
  EXPECT_TRUE(next.done);
  EXPECT_EQ(next.found, RunFound::abandoned);
  EXPECT_GT(next.fence, first);
  EXPECT_EQ(next.remaining, run_guard);
  EXPECT_TRUE(state.took_over);
}

TEST_F(Idempotency, up_to_the_last_moment_of_its_guard_nobody_takes_over) {
  apply(begin_as("ann"));
  now += run_guard - 1us;
  const auto told = apply(begin_as("ben"));
  EXPECT_EQ(told.found, RunFound::in_progress);
  EXPECT_EQ(told.remaining, 1us);
  now += 1us;
  expect(begin_as("ben"), true, RunFound::abandoned);
}

TEST_F(Idempotency, whoever_does_not_take_over_is_told_and_leaves_it) {
  const auto fence = abandoned_run();
  const auto before = state;
  const auto told = apply(begin_or_refuse_as("ben"));
  EXPECT_FALSE(told.done);
  EXPECT_EQ(told.found, RunFound::abandoned);
  EXPECT_EQ(told.fence, fence);
  EXPECT_EQ(told.remaining, run_ttl);
  EXPECT_EQ(state, before);
  expect(complete_as("ann"), true, RunFound::in_progress);
}

TEST_F(Idempotency, a_late_word_of_a_run_that_was_taken_over_changes_nothing) {
  abandoned_run();
  const auto fence = apply(begin_as("ben")).fence;
  const auto running = state;
  for (const auto& late : {complete_as("ann", paid), fail_as("ann", "late"),
                           fail_as("ann", "late", 0us), abandon_as("ann"), renew_as("ann")}) {
    const auto told = apply(late);
    EXPECT_EQ(told,
              (RunOutcome{.found = RunFound::in_progress, .fence = fence, .remaining = run_guard}));
    EXPECT_EQ(state, running);
  }
  apply(complete_as("ben", paid));
  const auto completed = state;
  for (const auto& late : {complete_as("ann", {.body = "twice"}), fail_as("ann", "late"),
                           abandon_as("ann"), renew_as("ann")}) {
    const auto told = apply(late);
    EXPECT_FALSE(told.done);
    EXPECT_EQ(told.found, RunFound::completed);
    EXPECT_EQ(told.answer, Answer{}) << "it is not asked for what it came to";
    EXPECT_EQ(state, completed);
  }
}

TEST_F(Idempotency, a_run_that_took_over_and_fails_stays_abandoned) {
  abandoned_run();
  apply(begin_as("ben"));
  for (const auto keep : {Micros(run_keep_failure), Micros(0us)}) {
    const auto told = apply(fail_as("ben", "nothing of mine", keep));
    EXPECT_TRUE(told.done);
    EXPECT_EQ(told.remaining, run_ttl);
    EXPECT_EQ(seen(), RunFound::abandoned) << "what ann did nobody knows";
  }
  const auto next = apply(begin_as("eva"));
  EXPECT_EQ(next.found, RunFound::abandoned);
  EXPECT_TRUE(next.done);
}

TEST_F(Idempotency, whoever_abandons_lets_the_next_one_take_over_at_once) {
  apply(begin_as("ann"));
  now += 1s;
  const auto told = apply(abandon_as("ann"));
  EXPECT_TRUE(told.done);
  EXPECT_EQ(told.remaining, run_ttl);
  expect(begin_as("ben"), true, RunFound::abandoned);
}

TEST_F(Idempotency, a_renewal_moves_the_guard_and_never_back) {
  const auto fence = apply(begin_as("ann")).fence;
  now += run_guard - 1us;
  EXPECT_EQ(
      apply(renew_as("ann")),
      (RunOutcome{
          .done = true, .found = RunFound::in_progress, .fence = fence, .remaining = run_guard}));
  EXPECT_EQ(apply(renew_as("ann", 1s)).remaining, run_guard) << "a late copy of an older one";
  now += run_guard;
  EXPECT_EQ(seen(), RunFound::abandoned);
  expect(renew_as("ann"), true, RunFound::in_progress);
  EXPECT_EQ(seen(), RunFound::in_progress) << "nobody took over";
}

TEST_F(Idempotency, a_renewal_that_was_on_its_way_does_not_revive_what_its_run_has_left) {
  apply(begin_as("ann"));
  apply(abandon_as("ann"));
  expect(renew_as("ann"), false, RunFound::abandoned);
  expect(begin_as("ben"), true, RunFound::abandoned);
}

// Else whoever comes next would begin as if nothing had been, and act a second time unwarned.
TEST_F(Idempotency, a_run_that_lived_longer_than_an_answer_is_still_known_when_it_dies) {
  auto begin = begin_as("ann");
  begin.keep = min_answer_ttl;
  apply(begin);
  for (int i = 0; i < 20; ++i) {
    now += 9s;
    expect(renew_as("ann"), true, RunFound::in_progress);
  }
  now += run_guard;
  EXPECT_EQ(apply(look_at_run()).remaining, min_answer_ttl);
  now += min_answer_ttl - 1us;
  EXPECT_EQ(seen(), RunFound::abandoned);
  now += 1us;
  EXPECT_EQ(seen(), RunFound::nothing);
}

TEST_F(Idempotency, the_record_of_a_run_that_was_abandoned_is_kept_from_then_on) {
  apply(begin_as("ann"));
  now += 1s;
  apply(abandon_as("ann"));
  now += 3s;
  apply(abandon_as("ann"));
  EXPECT_EQ(apply(look_at_run()).remaining, run_ttl - 3s) << "a repeated word adds nothing";
  now += run_ttl - 3s;
  EXPECT_EQ(seen(), RunFound::nothing);
}

TEST_F(Idempotency, a_run_whose_guard_has_ended_may_still_complete_if_nobody_took_over) {
  abandoned_run();
  expect(complete_as("ann", paid), true, RunFound::in_progress);
  EXPECT_EQ(apply(begin_as("ben")).answer, paid);
}

TEST_F(Idempotency, a_completion_whose_record_is_gone_makes_it_again) {
  apply(begin_as("ann", "f"));
  now += run_guard + run_ttl;
  EXPECT_EQ(seen(), RunFound::nothing);
  const auto kept = apply(complete_as("ann", paid, "f"));
  EXPECT_TRUE(kept.done);
  EXPECT_EQ(kept.found, RunFound::nothing);
  EXPECT_EQ(apply(begin_as("ben", "f")).answer, paid);
  expect(begin_as("ben", "g"), false, RunFound::mismatch);
  expect(complete_as("ann", paid, "f"), true, RunFound::completed);
}

TEST_F(Idempotency, nothing_else_is_made_of_a_record_that_is_gone) {
  for (const auto& command : {renew_as("ann"), abandon_as("ann"), look_at_run(), forget_run()}) {
    EXPECT_EQ(apply(command), RunOutcome{});
    EXPECT_EQ(state, RunState{});
  }
  EXPECT_EQ(apply(fail_as("ann", "why")), (RunOutcome{.done = true}));
  EXPECT_EQ(state, RunState{}) << "others may begin";
}

TEST_F(Idempotency, a_repeated_begin_is_a_retry_and_not_a_second_run) {
  const auto first = apply(begin_as("ann", "f"));
  now += 1s;
  auto again = apply(begin_as("ann", "f"));
  EXPECT_EQ(again.remaining, run_guard - 1s);
  again.remaining = first.remaining;
  EXPECT_EQ(again, first);
  now += run_guard;
  const auto taken = apply(begin_as("ben", "f"));
  now += 1s;
  auto taken_again = apply(begin_as("ben", "f"));
  EXPECT_EQ(taken_again.found, RunFound::abandoned) << "it is told again that there was another";
  EXPECT_EQ(taken_again.fence, taken.fence);
}

// It would be handed a run in which anybody may take over before its first act.
TEST_F(Idempotency, a_begin_whose_answer_was_lost_for_longer_than_the_guard_gets_a_guard_anew) {
  const auto first = apply(begin_as("ann"));
  now += run_guard + 5s;
  const auto again = apply(begin_as("ann"));
  EXPECT_EQ(again, first);
  expect(begin_as("ben"), false, RunFound::in_progress);
  now += run_guard;
  EXPECT_EQ(apply(look_at_run()).remaining, run_ttl);
}

TEST_F(Idempotency, repeated_last_words_are_taken_as_the_first_was) {
  const auto fence = apply(begin_as("ann")).fence;
  apply(complete_as("ann", paid));
  now += 1s;
  const auto completed = state;
  EXPECT_EQ(
      apply(complete_as("ann", {.body = "other"})),
      (RunOutcome{
          .done = true, .found = RunFound::completed, .fence = fence, .remaining = run_ttl - 1s}));
  EXPECT_EQ(state, completed);
  apply(forget_run());
  apply(begin_as("ann"));
  apply(fail_as("ann", "why"));
  now += 1s;
  const auto failed = state;
  const auto again = apply(fail_as("ann", "other"));
  EXPECT_TRUE(again.done);
  EXPECT_EQ(again.found, RunFound::failed);
  EXPECT_EQ(again.remaining, run_keep_failure - 1s);
  EXPECT_EQ(state, failed);
}

TEST_F(Idempotency, a_late_begin_of_a_run_that_has_ended_is_a_replay) {
  apply(begin_as("ann"));
  apply(complete_as("ann", paid));
  const auto late = apply(begin_as("ann"));
  EXPECT_FALSE(late.done);
  EXPECT_EQ(late.answer, paid);
}

TEST_F(Idempotency, the_last_word_counts_and_no_other_after_it) {
  apply(begin_as("ann"));
  apply(complete_as("ann", paid));
  expect(fail_as("ann", "no"), false, RunFound::completed);
  expect(abandon_as("ann"), false, RunFound::completed);
  expect(renew_as("ann"), false, RunFound::completed);
  apply(forget_run());
  apply(begin_as("ann"));
  apply(fail_as("ann", "no"));
  expect(complete_as("ann", paid), false, RunFound::failed);
  expect(abandon_as("ann"), false, RunFound::failed);
}

TEST_F(Idempotency, whoever_looks_changes_nothing) {
  apply(begin_as("ann"));
  const auto before = state;
  EXPECT_EQ(seen(), RunFound::in_progress);
  now += run_guard;
  EXPECT_EQ(seen(), RunFound::abandoned);
  EXPECT_EQ(state, before);
}

TEST_F(Idempotency, what_is_forgotten_is_as_if_it_had_never_been_but_for_its_fence) {
  const auto first = apply(begin_as("ann")).fence;
  const auto told = apply(forget_run());
  EXPECT_TRUE(told.done);
  EXPECT_EQ(told.found, RunFound::in_progress);
  EXPECT_EQ(told.answer, Answer{});
  EXPECT_EQ(state, RunState{});
  EXPECT_FALSE(apply(forget_run()).done);
  const auto next = apply(begin_as("ben"));
  EXPECT_EQ(next.found, RunFound::nothing);
  EXPECT_GT(next.fence, first);
  expect(complete_as("ann", paid), false, RunFound::in_progress);
}

}  // namespace
}  // namespace holdfast::model
