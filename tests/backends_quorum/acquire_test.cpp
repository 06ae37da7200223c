// SPDX-License-Identifier: Apache-2.0
//
// When an attempt is answered, with what, and how long what was granted may be believed in.
#include "quorum_fixture.hpp"

namespace holdfast::test {
namespace {

using testing::Each;
using testing::HasSubstr;

class QuorumAcquire : public QuorumTest {
 public:
  static Options with_drift(double drift) {
    Options options = usual();
    options.drift = drift;
    return options;
  }
};

TEST_F(QuorumAcquire, is_on_every_member_that_can_be_reached) {
  open(5);
  granted(acquire({.owner = "anna"}));
  EXPECT_EQ(holders(), counts({1, 1, 1, 1, 1}));
}

TEST_F(QuorumAcquire, is_answered_as_soon_as_a_majority_granted_it) {
  open(5);
  script({3, 4}, Verb::acquire, Fault::lose_request());
  const auto start_time = now();
  granted(acquire({.owner = "anna"}));
  EXPECT_EQ(now(), start_time);
}

TEST_F(QuorumAcquire, is_answered_as_soon_as_others_have_a_majority) {
  open(5);
  take_at({0, 1, 2}, {.owner = "ben"});
  script({3, 4}, Verb::acquire, Fault::lose_request());
  const auto refusal = busy(acquire({.owner = "anna"}));
  EXPECT_EQ(refusal.held_by_members, 3U);
  EXPECT_EQ(refusal.members, 5U);
  EXPECT_EQ(refusal.retry_after, 10s);
  ASSERT_EQ(refusal.holders.size(), 1U);
}

TEST_F(QuorumAcquire, of_four_needs_three_and_a_tie_is_lost_by_both) {
  open(4);
  take_at({0, 1}, {.owner = "ben"});
  EXPECT_EQ(busy(acquire({.owner = "anna"})).held_by_members, 2U);
  advance(1ms);
  EXPECT_EQ(holders(), counts({1, 1, 0, 0})) << "what it got of the tie is given back";
}

TEST_F(QuorumAcquire, counts_an_error_as_a_no) {
  open(5);
  script({0, 1}, Verb::acquire, Fault::refuse(), 1);
  granted(acquire({.owner = "anna"}));
  release("anna");
  script({0, 1, 2}, Verb::acquire, Fault::refuse(), 1);
  auto asking = start(Ask{.owner = "anna"});
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
}

TEST_F(QuorumAcquire, that_failed_says_what_each_member_said) {
  open(5);
  take_at({0}, {.owner = "ben"});
  script({1, 2}, Verb::acquire, Fault::refuse());
  script({3}, Verb::acquire, Fault::lose_request());
  auto asking = start(Ask{.owner = "anna"});
  advance(200ms);
  const auto message = message_of(asking.result());
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
  EXPECT_THAT(message, HasSubstr("'orders:42'"));
  EXPECT_THAT(message, HasSubstr("1 of 5 members granted it, 3 are needed"));
  EXPECT_THAT(message, HasSubstr("m0 held"));
  EXPECT_THAT(message, HasSubstr("m1 unreachable (refused by a script)"));
  EXPECT_THAT(message, HasSubstr("m3 too slow"));
  EXPECT_THAT(message, HasSubstr("m4 granted"));
}

TEST_F(QuorumAcquire, does_not_wait_for_the_slow_ones_longer_than_its_patience) {
  open(5);
  script({0, 1, 2}, Verb::acquire, Fault::delay_reply(1s));
  auto asking = start(Ask{.owner = "anna"});
  advance(200ms - 1us);
  EXPECT_FALSE(asking.done());
  advance(1us);
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
}

TEST_F(QuorumAcquire, has_a_patience_far_below_the_ttl) {
  open(3);
  const std::pair<Micros, Micros> table[] = {{20ms, 5ms},    {50ms, 10ms}, {100ms, 20ms},
                                             {500ms, 100ms}, {1s, 200ms},  {1h, 200ms}};
  for (const auto& [ttl, patience] : table) {
    granted(acquire({.owner = "anna", .ttl = ttl}));
    const auto sent = members[0]->history(Verb::acquire).back();
    EXPECT_EQ(sent.request.deadline - sent.at, patience) << ttl.count();
    release("anna");
  }
}

TEST_F(QuorumAcquire, asks_members_without_their_queues_whatever_was_asked_for) {
  open(3);
  granted(acquire({.owner = "anna", .place = 7}));
  const auto sent = members[1]->history(Verb::acquire).front();
  const auto& command = std::get<model::LockCommand>(sent.request.command);
  const auto& verb = std::get<model::Acquire>(command.verb);
  EXPECT_EQ(command.spec.order, Order::barging);
  EXPECT_FALSE(verb.wait);
  EXPECT_EQ(verb.place, 0U);
  EXPECT_EQ(verb.process, model::ProcessId::none);
}

TEST_F(QuorumAcquire, is_valid_for_the_ttl_counted_from_before_it_was_asked) {
  open(5);
  script({2, 3, 4}, Verb::acquire, Fault::delay_reply(100ms));
  script({2, 3, 4}, Verb::renew, Fault::delay_reply(50ms));
  const auto began = now();
  auto asking = start(Ask{.owner = "anna", .ttl = 10s});
  advance(150ms);
  const auto grant = granted(outcome_of(asking.result()));
  EXPECT_LE(grant.remaining, 10s);
  EXPECT_GT(grant.remaining, 10s - 1ms);
  // As its caller counts: the members have it at least as long.
  for (std::size_t at = 0; at < 5; ++at) {
    EXPECT_LE(began + grant.remaining, now() + seen_at(at).holders.at(0).remaining) << at;
  }
}

// The members that count most are those whose leases end first.
TEST_F(QuorumAcquire, is_valid_only_while_a_majority_has_it) {
  open(5);
  take_at({0, 1, 2}, {.owner = "anna", .ttl = 3s});
  const auto grant = granted(acquire({.owner = "anna", .ttl = 10s}));
  EXPECT_LE(grant.remaining, 3s);
  EXPECT_GT(grant.remaining, 3s - 1ms);
}

TEST_F(QuorumAcquire, takes_the_drift_off_what_the_members_say) {
  const std::pair<double, Micros> table[] = {
      {0.01, 10s}, {0.02, 9900ms}, {0.1, 9100ms}, {0.5, 5100ms}};
  open(3);
  for (const auto& [drift, usable] : table) {
    store = open_again(with_drift(drift));
    const auto grant = granted(acquire({.owner = "anna", .ttl = 10s}));
    EXPECT_LE(grant.remaining, usable) << drift;
    EXPECT_GT(grant.remaining, usable - 1ms) << drift;
    release("anna");
  }
}

TEST_F(QuorumAcquire, of_which_nothing_is_left_is_given_back) {
  open(5);
  script({0, 1, 2, 3, 4}, Verb::renew, Fault::delay_reply(1ms), 1);
  auto asking = start(Ask{.owner = "anna", .ttl = 30ms});
  runtime->stall(40ms);
  advance(1ms);
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
  EXPECT_THAT(message_of(asking.result()), HasSubstr("nothing was left"));
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumAcquire, that_is_repeated_is_told_what_is_left_and_never_given_back) {
  open(5);
  const auto first = granted(acquire({.owner = "anna", .ttl = 10s}));
  advance(4s);
  const auto again = granted(acquire({.owner = "anna", .ttl = 10s}));
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_LE(again.remaining, 6s);
  script({0, 1, 2}, Verb::acquire, Fault::refuse(), 1);
  auto asking = start(Ask{.owner = "anna", .ttl = 10s});
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
  advance(1s);
  EXPECT_THAT(holders(), Each(1U));
}

TEST_F(QuorumAcquire, that_is_repeated_is_not_given_back_by_an_answer_that_comes_late) {
  open(5);
  granted(acquire({.owner = "anna", .ttl = 10s}));
  script({0, 1, 2}, Verb::acquire, Fault::refuse(), 1);
  script({3, 4}, Verb::acquire, Fault::delay_reply(50ms), 1);
  auto asking = start(Ask{.owner = "anna", .ttl = 10s});
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
  advance(1s);
  EXPECT_THAT(holders(), Each(1U));
}

TEST_F(QuorumAcquire, another_kind_on_a_name_in_use_is_a_mismatch) {
  open(5);
  granted(acquire({.owner = "anna"}));
  spec = model::LockSpec::reentrant();
  EXPECT_EQ(refused(acquire({.owner = "ben"})), Errc::spec_mismatch);
  EXPECT_EQ(holders(), counts({1, 1, 1, 1, 1}));
}

TEST_F(QuorumAcquire, readers_share_and_a_writer_needs_a_majority_without_them) {
  open(5);
  spec = model::LockSpec::read_write();
  granted(acquire({.owner = "anna", .permits = 1}));
  granted(acquire({.owner = "ben", .permits = 1}));
  busy(acquire({.owner = "cleo"}));
  release("anna");
  release("ben");
  granted(acquire({.owner = "cleo"}));
}

// It hears that it is its turn, and does not come.
TEST_F(QuorumAcquire, a_stopped_writer_does_not_keep_readers_out) {
  open(3);
  spec = model::LockSpec::read_write();
  granted(acquire({.owner = "anna"}));
  const auto mine = store;
  store = open_again();
  const auto ear = value_of(store->listen(LockName::make("orders:42").value(),
                                          owner_named("writer"), model::RequestId{5}));
  const auto process = static_cast<std::uint64_t>(ear->process());
  // It stands in line from its second question on.
  queued(acquire({.owner = "writer", .request = 5, .wait = true, .process = process}));
  queued(acquire({.owner = "writer", .request = 6, .wait = true, .process = process}));
  for (const auto& line : other_lines) line->pause();
  store = mine;
  must_be<model::Released>(release("anna"));
  busy(acquire({.owner = "reader", .request = 7, .permits = 1}));
  advance(600ms);
  granted(acquire({.owner = "reader", .request = 8, .permits = 1}));
  for (const auto& line : other_lines) line->resume();
}

TEST_F(QuorumAcquire, a_bad_command_and_a_fired_stop_ask_nobody) {
  open(3);
  EXPECT_EQ(error_of(send({spec, to_command(spec.kind, {.owner = "anna", .ttl = 1ms})})),
            Errc::bad_input);
  std::stop_source stop;
  stop.request_stop();
  auto asking = start(Ask{.owner = "anna"}, stop.get_token());
  EXPECT_EQ(error_of(asking.result()), Errc::cancelled);
  EXPECT_EQ(count(Verb::acquire), 0U);
}

}  // namespace
}  // namespace holdfast::test
