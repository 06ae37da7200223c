// SPDX-License-Identifier: Apache-2.0
//
// Good histories give nothing.
#include "history/stories.hpp"
#include "history/story.hpp"

#include <gtest/gtest.h>

namespace holdfast::history::test {
namespace {

void expect_clean(const std::string& text) {
  const auto violations = check(story(text));
  EXPECT_TRUE(violations.empty()) << sentences(violations);
}

TEST(CleanHistory, of_a_mutex_that_is_handed_over) { expect_clean(hand_over); }
TEST(CleanHistory, of_a_store_that_cannot_be_watched) { expect_clean(told_only); }
TEST(CleanHistory, of_readers_and_a_writer) { expect_clean(readers); }
TEST(CleanHistory, of_a_semaphore) { expect_clean(semaphore); }
TEST(CleanHistory, of_an_owner_that_enters_again) { expect_clean(reentrant); }
TEST(CleanHistory, of_an_upgrade_and_a_downgrade) { expect_clean(upgrade); }
TEST(CleanHistory, of_a_reader_that_enters_before_the_downgrade_is_answered) {
  expect_clean(downgrade);
}
TEST(CleanHistory, of_a_line_that_cannot_be_watched) { expect_clean(line); }
TEST(CleanHistory, of_processes_that_stop_and_crash) { expect_clean(stopped); }
TEST(CleanHistory, of_a_lease_that_is_renewed) { expect_clean(kept); }
TEST(CleanHistory, of_a_hand_over_that_is_confirmed_before_its_process_is_stopped) {
  expect_clean(handed);
}
TEST(CleanHistory, of_an_attempt_that_cleans_up_behind_itself) { expect_clean(refused); }
TEST(CleanHistory, of_a_calm_after_faults) { expect_clean(calm); }
TEST(CleanHistory, without_any_event) { expect_clean(""); }

}  // namespace
}  // namespace holdfast::history::test
