// SPDX-License-Identifier: Apache-2.0
#include "quorum_fixture.hpp"

namespace holdfast::test {
namespace {

using testing::Each;
using testing::HasSubstr;

class QuorumRenew : public QuorumTest {};

TEST_F(QuorumRenew, lasts_the_ttl_from_now_on_and_keeps_the_fence) {
  open(5);
  const auto first = granted(acquire({.owner = "anna"}));
  advance(5s);
  const auto renewed = granted(renew("anna", 10s));
  EXPECT_EQ(renewed.remaining, 10s);
  EXPECT_EQ(renewed.fence, first.fence);
  for (std::size_t at = 0; at < 5; ++at) EXPECT_EQ(seen_at(at).holders.at(0).remaining, 10s);
}

TEST_F(QuorumRenew, takes_the_drift_off) {
  Options options = usual();
  options.drift = 0.1;
  open(3, options);
  granted(acquire({.owner = "anna"}));
  EXPECT_EQ(granted(renew("anna", 20s)).remaining, 18200ms);
}

TEST_F(QuorumRenew, needs_only_a_majority) {
  open(5);
  granted(acquire({.owner = "anna"}));
  script({0, 1}, Verb::renew, Fault::lose_request());
  EXPECT_EQ(granted(renew("anna", 10s)).remaining, 10s);
}

TEST_F(QuorumRenew, gives_the_lease_again_to_a_member_that_lost_it_with_the_same_fence) {
  open(5);
  const auto fence = granted(acquire({.owner = "anna", .note = "nightly"})).fence;
  advance(2s);
  members[4]->empty();
  const auto renewed = granted(renew("anna", 10s));
  advance(1ms);
  const auto repaired = seen_at(4);
  ASSERT_EQ(repaired.holders.size(), 1U);
  EXPECT_EQ(repaired.holders[0].fence, fence);
  EXPECT_EQ(repaired.holders[0].metadata->note, "nightly");
  EXPECT_LE(repaired.holders[0].remaining + 1ms, renewed.remaining)
      << "not beyond what its holder may believe in";
  EXPECT_GT(repaired.holders[0].remaining, 9s);
}

TEST_F(QuorumRenew, gives_the_lease_to_members_that_were_away_when_it_was_granted) {
  open(5);
  script({3, 4}, Verb::acquire, Fault::refuse(), 1);
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  EXPECT_EQ(holders(), counts({1, 1, 1, 0, 0}));
  granted(renew("anna"));
  advance(1ms);
  EXPECT_EQ(holders(), counts({1, 1, 1, 1, 1}));
  EXPECT_THAT(fences(), Each(fence));
}

TEST_F(QuorumRenew, repairs_a_member_that_answers_late) {
  open(5);
  granted(acquire({.owner = "anna"}));
  members[4]->empty();
  script({4}, Verb::renew, Fault::delay_reply(100ms), 1);
  granted(renew("anna"));
  advance(101ms);
  EXPECT_EQ(holders(), counts({1, 1, 1, 1, 1}));
}

TEST_F(QuorumRenew, a_repaired_member_counts_the_next_time) {
  open(3);
  granted(acquire({.owner = "anna"}));
  members[0]->empty();
  granted(renew("anna"));
  advance(1ms);
  members[1]->empty();
  EXPECT_EQ(granted(renew("anna", 10s)).remaining, 10s);
}

TEST_F(QuorumRenew, leaves_a_member_to_whoever_has_it_there) {
  open(5);
  granted(acquire({.owner = "anna"}));
  members[4]->empty();
  take_at({4}, {.owner = "ben"});
  granted(renew("anna"));
  advance(1s);
  must_be<model::NotOwner>(
      apply_at(4, {spec, model::Renew{owner_named("anna"), model::RequestId{1}, 10s}}));
}

TEST_F(QuorumRenew, whose_majority_forgot_it_is_lost_at_once) {
  open(5);
  granted(acquire({.owner = "anna"}));
  for (std::size_t at = 0; at < 3; ++at) members[at]->empty();
  script({3, 4}, Verb::renew, Fault::lose_request());
  must_be<model::NotHeld>(renew("anna"));
  advance(300ms);
  EXPECT_THAT(holders(), Each(0U)) << "what is lost is not repaired, and the rest is given back";
}

TEST_F(QuorumRenew, whose_majority_others_have_is_not_ours) {
  open(5);
  granted(acquire({.owner = "anna", .ttl = 1s}));
  advance(1s);
  take_at({0, 1, 2}, {.owner = "ben"});
  must_be<model::NotOwner>(renew("anna"));
}

TEST_F(QuorumRenew, whose_majority_is_silent_is_no_loss_but_no_quorum) {
  open(5);
  granted(acquire({.owner = "anna"}));
  script({0, 1, 2}, Verb::renew, Fault::lose_request());
  auto renewing = start_renewal("anna");
  advance(199ms);
  EXPECT_FALSE(renewing.done());
  advance(1ms);
  EXPECT_EQ(error_of(renewing.result()), Errc::quorum_not_reached);
  EXPECT_THAT(message_of(renewing.result()), HasSubstr("2 of 5 members renewed it"));
}

TEST_F(QuorumRenew, some_gone_and_some_silent_is_no_quorum) {
  open(5);
  granted(acquire({.owner = "anna"}));
  members[0]->empty();
  script({1, 2}, Verb::renew, Fault::refuse());
  auto renewing = start_renewal("anna");
  EXPECT_EQ(error_of(renewing.result()), Errc::quorum_not_reached);
}

TEST_F(QuorumRenew, a_repair_that_a_release_overtakes_is_given_back) {
  open(5);
  granted(acquire({.owner = "anna"}));
  members[4]->empty();
  script({4}, Verb::acquire, Fault::delay_request(50ms), 1);
  granted(renew("anna"));
  advance(10ms);
  must_be<model::Released>(release("anna"));
  advance(1s);
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumRenew, nobody_repairs_what_was_released_or_what_has_ended) {
  open(5);
  granted(acquire({.owner = "anna", .ttl = 1s}));
  must_be<model::Released>(release("anna"));
  must_be<model::NotHeld>(renew("anna"));
  granted(acquire({.owner = "ben", .request = 2, .ttl = 1s}));
  advance(1s);
  must_be<model::NotHeld>(renew("ben", 10s, 2));
  advance(1s);
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumRenew, by_a_client_that_did_not_acquire_it_is_told_the_agreed_fence) {
  open(5);
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  store = open_again();
  EXPECT_EQ(granted(renew("anna")).fence, fence);
}

TEST_F(QuorumRenew, by_a_client_that_finds_different_fences_agrees_on_the_largest) {
  open(3);
  constexpr Fence far_ahead = 4'000'000'000'000'000;
  for (const std::size_t at : {0U, 1U, 2U}) raise_fences_at(at, far_ahead + at * 10);
  take_at({0, 1, 2}, {.owner = "anna"});
  EXPECT_EQ(granted(renew("anna")).fence, far_ahead + 21);
  EXPECT_THAT(fences(), Each(far_ahead + 21));
}

TEST_F(QuorumRenew, of_a_member_that_was_restarted_counts_where_it_has_the_lease) {
  open(3, with_grace(30s));
  granted(acquire({.owner = "anna", .ttl = 10s}));
  known[0]->is_now({.server = "new", .up_since = now()});
  script({1}, Verb::renew, Fault::refuse(), 1);
  granted(renew("anna"));
}

// As a client asks for when a connection came back: for no more than it believes in.
TEST_F(QuorumRenew, with_a_member_that_was_away_makes_a_lease_no_shorter) {
  open(3);
  granted(acquire({.owner = "anna", .ttl = 10s}));
  advance(5s);
  members[0]->pause();
  auto renewing = start_renewal("anna", 10s);
  EXPECT_EQ(granted(outcome_of(renewing.result())).remaining, Micros(10s));
  advance(1s);
  members[0]->resume();
  members[2]->pause();
  renewing = start_renewal("anna", 1s);
  const Micros left = granted(outcome_of(renewing.result())).remaining;
  EXPECT_GT(left, Micros(8900ms));
  EXPECT_LE(left, Micros(9s));
}

// A member where others read when the lease was upgraded has it as a shared one: new readers would
// be let in there.
TEST_F(QuorumRenew, of_an_upgraded_lease_counts_only_members_where_it_was_upgraded) {
  open(5);
  spec = model::LockSpec::read_write();
  granted(acquire({.owner = "anna", .permits = 1, .ttl = 10s}));
  take_at({3, 4}, {.owner = "ben", .permits = 1, .ttl = 1h});
  granted(acquire({.owner = "anna", .request = 2, .ttl = 10s, .converts = 1}));
  members[0]->pause();
  auto renewing = start_renewal("anna");
  advance(1s);
  EXPECT_EQ(error_of(renewing.result()), Errc::quorum_not_reached);
  EXPECT_THAT(message_of(renewing.result()), testing::HasSubstr("shared lease"));
}

TEST_F(QuorumRenew, upgrades_the_lease_where_others_were_reading) {
  open(5);
  spec = model::LockSpec::read_write();
  granted(acquire({.owner = "anna", .permits = 1, .ttl = 10s}));
  take_at({3, 4}, {.owner = "ben", .permits = 1, .ttl = 1s});
  granted(acquire({.owner = "anna", .request = 2, .ttl = 10s, .converts = 1}));
  advance(1001ms);
  granted(renew("anna"));
  for (std::size_t at = 0; at < 5; ++at) {
    EXPECT_EQ(seen_at(at).holders.at(0).permits, all_permits) << at;
  }
  members[0]->pause();
  granted(renew("anna"));
}

}  // namespace
}  // namespace holdfast::test
