// SPDX-License-Identifier: Apache-2.0
//
// What an attempt that did not win leaves behind: nothing, as soon as each member can hear it.
#include "quorum_fixture.hpp"

namespace holdfast::test {
namespace {

using testing::Each;

class QuorumRollback : public QuorumTest {};

TEST_F(QuorumRollback, gives_back_what_it_got_and_leaves_the_others_alone) {
  open(5);
  take_at({0, 1, 2}, {.owner = "ben"});
  busy(acquire({.owner = "anna"}));
  advance(1ms);
  EXPECT_EQ(holders(), counts({1, 1, 1, 0, 0}));
  EXPECT_EQ(granted(apply_at(0, {spec, model::Renew{owner_named("ben"), model::RequestId{1}, 10s}}))
                .remaining,
            10s);
}

TEST_F(QuorumRollback, gives_back_what_was_granted_when_all_was_over) {
  open(5);
  take_at({0, 1, 2}, {.owner = "ben"});
  script({3}, Verb::acquire, Fault::delay_request(150ms), 1);
  script({4}, Verb::acquire, Fault::delay_reply(150ms), 1);
  busy(acquire({.owner = "anna"}));
  advance(149ms);
  EXPECT_EQ(holders(), counts({1, 1, 1, 0, 0})) << "also where it is not known yet";
  EXPECT_EQ(members[3]->count(Verb::release), 1U);
  advance(2ms);
  EXPECT_EQ(members[3]->count(Verb::release), 2U) << "once more, since it was granted after that";
  EXPECT_EQ(holders(), counts({1, 1, 1, 0, 0}));
}

TEST_F(QuorumRollback, gives_back_where_the_answer_was_lost) {
  open(5);
  take_at({0, 1, 2}, {.owner = "ben"});
  script({3, 4}, Verb::acquire, Fault::lose_reply(), 1);
  busy(acquire({.owner = "anna"}));
  advance(201ms);
  EXPECT_EQ(holders(), counts({1, 1, 1, 0, 0}));
}

TEST_F(QuorumRollback, of_an_attempt_without_a_quorum) {
  open(5);
  script({0, 1, 2}, Verb::acquire, Fault::refuse(), 1);
  auto asking = start(Ask{.owner = "anna"});
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
  advance(1ms);
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumRollback, of_a_cancelled_attempt_reaches_all_members) {
  open(5);
  script({0, 1, 2, 3, 4}, Verb::acquire, Fault::delay_reply(100ms), 1);
  std::stop_source stop;
  auto asking = start(Ask{.owner = "anna"}, stop.get_token());
  EXPECT_EQ(holders(), counts({1, 1, 1, 1, 1}));
  advance(50ms);
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(asking.result()), Errc::cancelled);
  advance(1ms);
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumRollback, of_a_cancelled_attempt_reaches_members_that_were_granted_it_and_said_so) {
  open(5);
  script({2, 3, 4}, Verb::acquire, Fault::delay_reply(100ms), 1);
  std::stop_source stop;
  auto asking = start(Ask{.owner = "anna"}, stop.get_token());
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(asking.result()), Errc::cancelled);
  advance(1ms);
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumRollback, has_a_deadline_of_its_own_and_goes_on_until_it_was_heard) {
  open(5);
  take_at({0, 1, 2}, {.owner = "ben"});
  script({3}, Verb::release, Fault::lose_request(), 3);
  busy(acquire({.owner = "anna"}));
  advance(100ms);
  EXPECT_EQ(holders(), counts({1, 1, 1, 1, 0}));
  advance(2s);
  EXPECT_EQ(holders(), counts({1, 1, 1, 0, 0}));
  EXPECT_EQ(members[3]->count(Verb::release), 4U);
}

TEST_F(QuorumRollback, ends_with_the_ttl_if_nobody_hears_it) {
  open(5);
  take_at({0, 1, 2}, {.owner = "ben", .ttl = 1h});
  script({3}, Verb::release, Fault::refuse(), 100'000);
  busy(acquire({.owner = "anna", .ttl = 5s}));
  advance(5s);
  EXPECT_EQ(holders(), counts({1, 1, 1, 0, 0}));
  const auto told = members[3]->count(Verb::release);
  EXPECT_GT(told, 5U);
  advance(1min);
  EXPECT_EQ(members[3]->count(Verb::release), told) << "nobody goes on telling it";
}

// The next attempt of the same owner has a request of its own, so that late copies miss it.
TEST_F(QuorumRollback, that_comes_late_leaves_the_next_attempt_alone) {
  open(5);
  take_at({0, 1, 2}, {.owner = "ben", .ttl = 100ms});
  script({3, 4}, Verb::release, Fault::delay_request(150ms), 1);
  busy(acquire({.owner = "anna", .request = 1}));
  advance(101ms);
  script({3, 4}, Verb::acquire, Fault::none());
  auto asking = start(Ask{.owner = "anna", .request = 2});
  granted(outcome_of(asking.result()));
  advance(1s);
  EXPECT_EQ(granted(renew("anna", 10s, 2)).remaining, 10s);
  for (std::size_t at = 0; at < 3; ++at) EXPECT_EQ(seen_at(at).holders.size(), 1U);
}

TEST_F(QuorumRollback, of_an_upgrade_leaves_the_shared_lease) {
  open(5);
  spec = model::LockSpec::read_write();
  granted(acquire({.owner = "anna", .permits = 1}));
  take_at({0, 1, 2}, {.owner = "ben", .permits = 1});
  busy(acquire({.owner = "anna", .request = 2, .converts = 1}));
  advance(1ms);
  EXPECT_EQ(holders(), counts({2, 2, 2, 1, 1}));
  for (std::size_t at = 0; at < 5; ++at) {
    EXPECT_EQ(seen_at(at).holders.at(0).permits, 1U) << "no member has it upgraded: " << at;
  }
  granted(renew("anna"));
}

}  // namespace
}  // namespace holdfast::test
