// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/vote.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <vector>

namespace holdfast::backends::quorum {
namespace {

using namespace std::chrono_literals;
using Verdict = Ballot::Verdict;
using Ballots = std::vector<Ballot>;

// One letter for each member: y(es), h(eld), g(one), r(efused), u(nreachable), s(low), . (pending).
Ballots ballots(std::string_view letters) {
  const std::map<char, Verdict> meaning{{'y', Verdict::yes},         {'h', Verdict::held},
                                        {'g', Verdict::gone},        {'r', Verdict::refused},
                                        {'u', Verdict::unreachable}, {'s', Verdict::too_slow},
                                        {'.', Verdict::pending}};
  Ballots out;
  for (const char letter : letters) out.push_back({.verdict = meaning.at(letter)});
  return out;
}

Ballot yes(Fence fence, Micros remaining = 10s) {
  return {.verdict = Verdict::yes, .fence = fence, .remaining = remaining};
}
Ballot held(Micros retry_after) { return {.verdict = Verdict::held, .retry_after = retry_after}; }
Ballot no(Fence fence = 0, Micros remaining = {}) {
  return {.verdict = Verdict::refused, .fence = fence, .remaining = remaining};
}

TEST(Vote, a_lease_is_held_for_as_long_as_a_majority_has_it) {
  const auto since = [](std::optional<Micros> time) {
    return Ballot{.verdict = Verdict::yes, .held_for = time};
  };
  EXPECT_EQ(held_for(Ballots{since(1s), since(3s), since(2s)}), 2s);
  EXPECT_EQ(held_for(Ballots{since(1s), since(3s), Ballot{}}), 1s);
  EXPECT_EQ(held_for(Ballots{since(1s), since({}), since({})}), std::nullopt);
}

TEST(Vote, a_majority_is_more_than_half) {
  const std::map<std::size_t, std::size_t> table{{3, 2}, {4, 3}, {5, 3}, {6, 4},
                                                 {7, 4}, {8, 5}, {15, 8}};
  for (const auto& [members, needed] : table) EXPECT_EQ(majority_of(members), needed) << members;
}

TEST(Vote, is_certain_as_soon_as_it_can_be_and_never_before) {
  const std::map<std::string_view, Ruling> table{
      {"...", Ruling::open},      {"y..", Ruling::open},      {"yy.", Ruling::carried},
      {"yyh", Ruling::carried},   {"h..", Ruling::open},      {"hh.", Ruling::lost},
      {"yh.", Ruling::open},      {"yhu", Ruling::lost},      {"yhy", Ruling::carried},
      {"....", Ruling::open},     {"yy..", Ruling::open},     {"yyy.", Ruling::carried},
      {"h...", Ruling::open},     {"hh..", Ruling::lost},     {"yyh.", Ruling::open},
      {"yyhh", Ruling::lost},     {"uu..", Ruling::lost},     {".....", Ruling::open},
      {"yy...", Ruling::open},    {"yyy..", Ruling::carried}, {"hh...", Ruling::open},
      {"hhh..", Ruling::lost},    {"yyhh.", Ruling::open},    {"yyhhy", Ruling::carried},
      {"yyhhu", Ruling::lost},    {"grus.", Ruling::lost},    {"gr...", Ruling::open},
      {"yyyyy", Ruling::carried}, {"sssss", Ruling::lost}};
  for (const auto& [letters, ruling] : table) {
    EXPECT_EQ(rule(ballots(letters)), ruling) << letters;
  }
}

// Whatever comes later, a ruling is never taken back; and it is open only if both are possible.
TEST(Vote, agrees_with_every_way_in_which_it_can_go_on) {
  for (std::size_t members = 3; members <= 6; ++members) {
    for (std::size_t yes = 0; yes <= members; ++yes) {
      for (std::size_t other = 0; yes + other <= members; ++other) {
        const auto pending = members - yes - other;
        const std::string letters =
            std::string(yes, 'y') + std::string(other, 'h') + std::string(pending, '.');
        const bool at_best = yes + pending > members / 2;
        const bool at_worst = yes > members / 2;
        const auto expected = at_worst ? Ruling::carried : at_best ? Ruling::open : Ruling::lost;
        EXPECT_EQ(rule(ballots(letters)), expected) << letters;
      }
    }
  }
}

TEST(Vote, is_contended_if_only_others_were_in_the_way) {
  const std::map<std::string_view, bool> table{
      {"hhh", true},    {"yhh", true},    {"yhu", true},   {"hhu", true},    {"huu", false},
      {"yuu", false},   {"uuu", false},   {"ggg", false},  {"yyhh", true},   {"hhu.", false},
      {"hhhuu", true},  {"yhhuu", true},  {"yyhuu", true}, {"hhuuu", false}, {"yyuuu", false},
      {"yhuuu", false}, {"hhrrs", false}, {"hhhrs", true}};
  for (const auto& [letters, contended] : table) {
    EXPECT_EQ(is_contended(ballots(letters)), contended) << letters;
  }
}

// A vote that is lost may still tell whether others had it or too few answered.
TEST(Vote, is_settled_when_it_is_known_why_it_was_lost) {
  const std::map<std::string_view, bool> table{
      {"y..", false},  {"yy.", true},   {"hh.", true},   {"huu", true},    {"uu.", true},
      {"hu.", false},  {"hur", true},   {"hhh..", true}, {"huu..", false}, {"huuh.", false},
      {"huuhh", true}, {"huuu.", true}, {"uuu..", true}, {"yhuu.", false}, {"yhuuu", true},
      {"ggg..", true}, {"hh..", false}, {"hhh.", true},  {"hu..", false},  {"yyhh", true}};
  for (const auto& [letters, settled] : table) {
    EXPECT_EQ(is_settled(ballots(letters)), settled) << letters;
  }
}

TEST(Vote, a_lease_lasts_until_a_majority_is_no_longer_left) {
  EXPECT_EQ(lease_of(Ballots{yes(1, 9s), yes(1, 7s), yes(1, 8s)}), 8s);
  EXPECT_EQ(lease_of(Ballots{yes(1, 9s), yes(1, 7s), no(1, 30s)}), 7s);
  EXPECT_EQ(lease_of(Ballots{yes(1, 9s), yes(1, 1s), yes(1, 8s), yes(1, 7s)}), 7s);
  EXPECT_EQ(lease_of(Ballots{yes(1, 5s), yes(1, 1s), yes(1, 4s), yes(1, 2s), yes(1, 3s)}), 3s);
  EXPECT_EQ(lease_of(Ballots{yes(1, 5s), no(1, 9s), yes(1, 4s), no(1, 9s), yes(1, 3s)}), 3s);
  EXPECT_EQ(lease_of(Ballots{yes(1, 5s), yes(1, 5s), no(), no(), no()}), 0s) << "no majority";
  EXPECT_EQ(lease_of(ballots(".....")), 0s);
}

TEST(Vote, a_fence_is_agreed_if_a_majority_gave_it_alike) {
  EXPECT_EQ(agreed_fence(Ballots{yes(7), yes(7), no()}), 7U);
  EXPECT_EQ(agreed_fence(Ballots{yes(7), yes(8), yes(7)}), 7U);
  EXPECT_EQ(agreed_fence(Ballots{yes(7), yes(8), yes(9)}), std::nullopt);
  EXPECT_EQ(agreed_fence(Ballots{yes(7), yes(7), yes(8), yes(8)}), std::nullopt);
  EXPECT_EQ(agreed_fence(Ballots{yes(8), yes(7), yes(8), yes(9), yes(8)}), 8U);
  EXPECT_EQ(agreed_fence(Ballots{yes(7), yes(7), no(7), no(7), no(7)}), std::nullopt)
      << "what does not count says nothing about fences either";
  EXPECT_EQ(agreed_fence(ballots("...")), std::nullopt);
}

TEST(Vote, a_fence_that_no_later_lease_can_have_is_the_agreed_one_or_the_smallest) {
  EXPECT_EQ(fence_below_later_leases(Ballots{yes(8), yes(7), yes(8)}), 8U);
  EXPECT_EQ(fence_below_later_leases(Ballots{yes(9), yes(7), yes(8)}), 7U);
  EXPECT_EQ(fence_below_later_leases(Ballots{no(6), yes(9), yes(8)}), 8U);
  EXPECT_EQ(fence_below_later_leases(ballots("...")), 0U);
}

TEST(Vote, the_largest_fence_is_one_that_counts) {
  EXPECT_EQ(largest_fence(Ballots{yes(7), yes(9), yes(8)}), 9U);
  EXPECT_EQ(largest_fence(Ballots{yes(7), no(9), yes(8)}), 8U);
  EXPECT_EQ(largest_fence(ballots("...")), 0U);
}

TEST(Vote, a_majority_may_be_free_when_enough_of_those_in_the_way_have_ended) {
  EXPECT_EQ(until_contenders_end(Ballots{held(3s), held(1s), held(2s)}), 2s);
  EXPECT_EQ(until_contenders_end(Ballots{yes(1), held(5s), held(2s)}), 2s);
  EXPECT_EQ(until_contenders_end(Ballots{yes(1), yes(1), held(5s), held(2s), no()}), 2s);
  EXPECT_EQ(until_contenders_end(Ballots{yes(1), yes(1), held(5s), held(2s)}), 2s) << "a tie";
  EXPECT_EQ(until_contenders_end(Ballots{held(4s), held(5s), held(2s), held(3s)}), 4s);
  EXPECT_EQ(until_contenders_end(Ballots{held(4s), held(5s), no(), no(), no()}), 5s)
      << "all of them, if even that is too few";
  EXPECT_EQ(until_contenders_end(Ballots{no(), no(), no()}), 0s);
  EXPECT_EQ(until_contenders_end(Ballots{yes(1), yes(1), held(9s)}), 0s);
  EXPECT_EQ(until_contenders_end(Ballots{held(8s), held(20s), yes(1), Ballot{}}), 8s)
      << "who has not answered yet may be free";
  EXPECT_EQ(until_contenders_end(Ballots{held(3s), Ballot{}, held(2s), Ballot{}, held(4s)}), 2s);
}

TEST(Vote, verdicts_are_counted_and_have_words) {
  EXPECT_EQ(count(ballots("yyhgu"), Verdict::yes), 2U);
  EXPECT_EQ(count(ballots("yyhgu"), Verdict::too_slow), 0U);
  EXPECT_EQ(to_string(Verdict::pending), "no answer yet");
  EXPECT_EQ(to_string(Verdict::yes), "granted");
  EXPECT_EQ(to_string(Verdict::held), "held");
  EXPECT_EQ(to_string(Verdict::gone), "not held");
  EXPECT_EQ(to_string(Verdict::refused), "refused");
  EXPECT_EQ(to_string(Verdict::unreachable), "unreachable");
  EXPECT_EQ(to_string(Verdict::too_slow), "too slow");
}

}  // namespace
}  // namespace holdfast::backends::quorum
