// SPDX-License-Identifier: Apache-2.0
//
// Fences that grow although each member counts for itself.
#include "quorum_fixture.hpp"

namespace holdfast::test {
namespace {

using testing::Each;

class QuorumFences : public QuorumTest {
 public:
  // Above all that the members' clocks may say.
  static constexpr Fence far_ahead = 4'000'000'000'000'000;
  Fence next_fence_of(std::size_t member) {
    const auto fence =
        granted(apply_at(member, {spec, to_command(Kind::mutex, {.owner = "probe"})}, "probe"))
            .fence;
    apply_at(member, {spec, model::Release{owner_named("probe"), model::RequestId{1}}}, "probe");
    return fence;
  }
  static Options without_fences() {
    Options options = usual();
    options.fences = false;
    return options;
  }
};

TEST_F(QuorumFences, all_members_have_the_largest_one_and_count_on_from_it) {
  open(5);
  raise_fences_at(2, far_ahead);
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  EXPECT_EQ(fence, far_ahead + 1);
  EXPECT_THAT(fences(), Each(fence));
  for (std::size_t at = 0; at < 5; ++at) EXPECT_GT(next_fence_of(at), fence) << at;
}

TEST_F(QuorumFences, members_that_did_not_grant_it_count_on_from_it_too) {
  open(5);
  raise_fences_at(0, far_ahead);
  script({3, 4}, Verb::acquire, Fault::refuse());
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  EXPECT_EQ(fence, far_ahead + 1);
  EXPECT_EQ(holders(), counts({1, 1, 1, 0, 0}));
  for (std::size_t at = 0; at < 5; ++at) EXPECT_GT(next_fence_of(at), fence) << at;
}

TEST_F(QuorumFences, need_no_second_round_where_a_majority_gave_the_same) {
  open(5);
  for (std::size_t at = 0; at < 3; ++at) raise_fences_at(at, far_ahead);
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  EXPECT_EQ(fence, far_ahead + 1);
  EXPECT_EQ(count(Verb::renew), 0U);
}

TEST_F(QuorumFences, cost_one_more_round_where_they_differ) {
  open(5);
  for (std::size_t at = 0; at < 5; ++at) raise_fences_at(at, far_ahead + at * 10);
  granted(acquire({.owner = "anna"}));
  EXPECT_EQ(count(Verb::acquire), 5U);
  EXPECT_EQ(count(Verb::renew), 5U);
}

TEST_F(QuorumFences, grow_although_the_next_majority_shares_one_member_only) {
  open(5);
  raise_fences_at(0, far_ahead);
  script({3, 4}, Verb::acquire, Fault::refuse(), 1);
  script({3, 4}, Verb::renew, Fault::refuse(), 1);
  const auto first = granted(acquire({.owner = "anna"})).fence;
  release("anna");
  script({0, 1}, Verb::acquire, Fault::refuse());
  script({0, 1}, Verb::renew, Fault::refuse());
  EXPECT_GT(granted(acquire({.owner = "ben", .request = 2})).fence, first);
}

TEST_F(QuorumFences, that_no_majority_confirms_end_the_attempt_and_give_everything_back) {
  open(5);
  for (std::size_t at = 0; at < 5; ++at) raise_fences_at(at, far_ahead + at * 10);
  script({0, 1, 2}, Verb::renew, Fault::refuse(), 1);
  auto asking = start(Ask{.owner = "anna"});
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
  EXPECT_THAT(message_of(asking.result()), testing::HasSubstr("2 of 5 members confirmed it"));
  advance(100ms);
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumFences, a_majority_that_forgot_the_lease_before_it_confirmed_is_none) {
  open(5);
  script({0, 1, 2, 3, 4}, Verb::acquire, Fault::delay_reply(50ms), 1);
  auto asking = start(Ask{.owner = "anna"});
  advance(10ms);
  for (std::size_t at = 0; at < 3; ++at) members[at]->empty();
  advance(40ms);
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
  advance(100ms);
  EXPECT_THAT(holders(), Each(0U));
}

// Two names at once: each of the two votes has the same largest number, of another member.
TEST_F(QuorumFences, of_two_names_differ_although_their_votes_were_equal) {
  open(3);
  raise_fences_at(0, far_ahead);
  raise_fences_at(1, far_ahead + 1);
  raise_fences_at(2, far_ahead);
  script({0, 1, 2}, Verb::acquire, Fault::delay_reply(50ms), 1);
  auto one = start({spec, to_command(spec.kind, {.owner = "anna"})}, {}, "one");
  // The one has 1, 2, 1 beyond it; the other 2 from two members, which a majority minted alike.
  script({0, 2}, Verb::acquire, Fault::delay_reply(50ms), 1);
  script({1}, Verb::acquire, Fault::refuse(), 1);
  auto other = start({spec, to_command(spec.kind, {.owner = "ben"})}, {}, "other");
  advance(50ms);
  const auto first = granted(outcome_of(one.result())).fence;
  const auto second = granted(outcome_of(other.result())).fence;
  EXPECT_GE(first, far_ahead + 2);
  EXPECT_GE(second, far_ahead + 2);
  EXPECT_NE(first, second);
}

TEST_F(QuorumFences, that_others_have_reached_are_proposed_anew_until_a_majority_takes_one) {
  open(3);
  for (std::size_t at = 0; at < 3; ++at) raise_fences_at(at, far_ahead + at);
  script({0, 1, 2}, Verb::acquire, Fault::delay_reply(50ms), 1);
  auto asking = start(Ask{.owner = "anna"});
  // Far beyond what they minted.
  for (std::size_t at = 0; at < 3; ++at) raise_fences_at(at, far_ahead + 1'000'000 + at * 1000);
  advance(50ms);
  const auto fence = granted(outcome_of(asking.result())).fence;
  EXPECT_GT(fence, far_ahead + 1'002'000);
  EXPECT_THAT(fences(), Each(fence));
  EXPECT_LE(count(Verb::renew), 9U) << "at worst once for each member";
}

// One that was too late to be counted and had minted a larger one.
TEST_F(QuorumFences, are_told_to_members_that_have_the_lease_with_another) {
  open(3);
  for (std::size_t at = 0; at < 3; ++at) raise_fences_at(at, far_ahead + at * 10);
  script({2}, Verb::acquire, Fault::delay_reply(20ms), 1);
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  EXPECT_EQ(fence, far_ahead + 11);
  advance(20ms);
  EXPECT_THAT(fences(), Each(fence));
  EXPECT_GT(next_fence_of(2), far_ahead + 21);
}

TEST_F(QuorumFences, that_are_told_again_need_not_be_free) {
  open(3);
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  for (std::size_t at = 0; at < 3; ++at) raise_fences_at(at, far_ahead);
  members[0]->empty();
  EXPECT_EQ(granted(renew("anna")).fence, fence);
  advance(50ms);
  EXPECT_THAT(fences(), Each(fence));
  EXPECT_EQ(granted(renew("anna")).fence, fence);
}

TEST_F(QuorumFences, of_a_forced_release_are_below_every_later_one) {
  open(5);
  granted(acquire({.owner = "anna"}));
  raise_fences_at(4, far_ahead);
  const auto forced = must_be<model::Forced>(apply({spec, model::ForceRelease{}}));
  EXPECT_EQ(forced.fence, far_ahead + 1);
  EXPECT_EQ(forced.count, 1U);
  EXPECT_THAT(holders(), Each(0U));
  for (std::size_t at = 0; at < 5; ++at) EXPECT_GT(next_fence_of(at), forced.fence) << at;
  script({4}, Verb::acquire, Fault::refuse());
  EXPECT_GT(granted(acquire({.owner = "ben", .request = 2})).fence, forced.fence);
}

TEST_F(QuorumFences, that_are_turned_off_are_zero_and_cost_one_round) {
  open(5, without_fences());
  EXPECT_EQ(granted(acquire({.owner = "anna"})).fence, 0U);
  EXPECT_EQ(count(Verb::acquire), 5U);
  EXPECT_EQ(count(Verb::renew), 0U);
  EXPECT_EQ(granted(renew("anna")).fence, 0U);
  EXPECT_EQ(count(Verb::renew), 5U);
  const auto seen = must_be<model::Seen>(apply({spec, model::Inspect{owner_named("anna")}}));
  EXPECT_EQ(seen.lock.holders.at(0).fence, 0U);
  EXPECT_EQ(seen.mine.value().fence, 0U);
  EXPECT_EQ(must_be<model::Forced>(apply({spec, model::ForceRelease{}})).fence, 0U);
}

TEST_F(QuorumFences, that_are_turned_off_do_not_keep_an_operator_from_ending_a_lease) {
  open(5, without_fences());
  granted(acquire({.owner = "anna"}));
  const auto seen = must_be<model::Seen>(apply({spec, model::Inspect{}}));
  const model::ForceRelease as_seen{.up_to = seen.lock.holders.at(0).fence};
  EXPECT_EQ(must_be<model::Forced>(apply({spec, as_seen})).count, 1U);
  EXPECT_THAT(holders(), Each(0U));
}

}  // namespace
}  // namespace holdfast::test
