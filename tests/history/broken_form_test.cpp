// SPDX-License-Identifier: Apache-2.0
//
// Histories that make no sense, and would not get past the reader of files.
#include "history/broken.hpp"

#include <functional>

namespace holdfast::history::test {
namespace {

struct Nonsense {
  std::string what;
  std::function<void(History&)> make;
};

Event& first(History& history, What what) {
  return *std::ranges::find(history.events, what, &Event::what);
}

const std::vector<Nonsense> nonsense{
    {"an event without an attempt", [](History& h) { first(h, What::granted).op = 0; }},
    {"an event of an attempt that does not exist", [](History& h) { first(h, What::held).op = 9; }},
    {"a lease that is ended by an attempt that does not exist",
     [](History& h) { first(h, What::freed).by = 9; }},
    {"an attempt about a name that does not exist", [](History& h) { h.attempts[1].name = 2; }},
    {"an attempt about no name", [](History& h) { h.attempts[1].name = 0; }},
    {"a force on a name that does not exist",
     [](History& h) {
       h.events.push_back({.at = h.events.back().at, .name = 2, .what = What::forced});
     }},
    {"an attempt that wants nothing", [](History& h) { h.attempts[0].permits = 0; }},
    {"an attempt that wants more than there is", [](History& h) { h.attempts[0].capacity = 3; }},
    {"a negative ttl", [](History& h) { h.attempts[0].ttl = -1; }},
    {"a process beyond all limits", [](History& h) { h.attempts[0].process = 4'000'000'000U; }},
    {"an attempt that converts itself", [](History& h) { h.attempts[1].converts = 2; }},
    {"an attempt that converts a later one", [](History& h) { h.attempts[1].converts = 3; }},
    {"an attempt that converts what does not exist",
     [](History& h) { h.attempts[1].converts = 77; }},
    {"an event before the one before it", [](History& h) { h.events[5].at = 1; }},
    {"a time before the beginning", [](History& h) { h.events[0].at = -5; }},
    {"a grant that was over before it came",
     [](History& h) { first(h, What::granted).until = first(h, What::granted).at - 1; }},
    {"an attempt that begins twice",
     [](History& h) {
       h.events.push_back({.at = h.events.back().at, .op = 1, .what = What::asked});
     }},
    {"a grant before the attempt begins",
     [](History& h) { std::swap(h.events[0].what, h.events[2].what); }},
    {"an event of an attempt that never begins",
     [](History& h) { h.events.erase(h.events.begin()); }},
    {"a write that was decided on afterwards",
     [](History& h) { first(h, What::wrote).since = first(h, What::wrote).at + 1; }},
};

TEST(Nonsense, is_flagged_as_such) {
  for (const Nonsense& each : nonsense) {
    SCOPED_TRACE(each.what);
    History history = story(hand_over);
    each.make(history);
    const auto violations = check(history);
    EXPECT_TRUE(has(violations, Rule::well_formed)) << sentences(violations);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Form, BrokenHistory,
    testing::ValuesIn(std::vector<Break>{
        {"an_attempt_is_granted_twice",
         line,
         {{"", "54 granted b fence=11 until=147"}},
         Rule::well_formed},
        {"an_attempt_is_granted_after_it_failed",
         told_only,
         {{"", "260 granted c fence=12 until=300"}, {"", "270 releasing c"}},
         Rule::well_formed},
        {"an_attempt_fails_after_it_was_granted",
         line,
         {{"", "54 failed b detail=timed_out"}},
         Rule::well_formed},
        {"an_attempt_fails_twice",
         told_only,
         {{"", "260 failed c detail=busy"}},
         Rule::well_formed},
        {"somebody_lets_go_of_what_it_was_not_granted",
         told_only,
         {{"", "260 releasing c"}},
         Rule::well_formed},
        {"somebody_loses_what_it_was_not_granted", line, {{"", "30 lost c"}}, Rule::well_formed},
        {"an_attempt_converts_a_lease_of_another_name",
         upgrade,
         {{"10 asked u", "10 asked u waits converts=r name=other process=p1 owner=r"}},
         Rule::well_formed},
    }),
    name_of);

TEST(Violations, come_in_the_order_of_rules_and_events_and_no_more_than_asked_for) {
  const History history = story(edited(hand_over, {{"", "13 self_blocked b"},
                                                   {"", "14 self_blocked b"},
                                                   {"", "25 self_blocked c"},
                                                   {"", "57 renewing a"}}));
  Checker checker;
  const auto violations = checker.check(history, 2);
  ASSERT_EQ(violations.size(), 2U);
  EXPECT_EQ(violations[0].rule, Rule::renewals_end);
  EXPECT_EQ(violations[1].rule, Rule::orphans_vanish);
  EXPECT_EQ(violations[1].op, 2U);
  EXPECT_LT(violations[1].event, violations[0].event);
  EXPECT_EQ(checker.found(), 4U);
}

TEST(Checker, finds_the_same_when_it_is_used_again) {
  Checker checker;
  const History good = story(hand_over);
  const History bad = story(edited(hand_over, {{"", "13 self_blocked b"}}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(checker.check(good).empty());
    EXPECT_EQ(checker.check(bad).size(), 1U);
    EXPECT_TRUE(checker.check(story(reentrant)).empty());
  }
}

}  // namespace
}  // namespace holdfast::history::test
