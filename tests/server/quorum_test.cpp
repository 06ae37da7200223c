// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/quorum.hpp"

#include "server/endpoints/patterns/members.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace holdfast::server::patterns {
namespace {

using namespace std::chrono_literals;

constexpr Vote silent{};

Vote granted(Fence fence) { return {.kind = Vote::Kind::granted, .fence = fence}; }
Vote busy(Micros retry_after) { return {.kind = Vote::Kind::busy, .retry_after = retry_after}; }

Verdict::Kind kind_of(const std::vector<Vote>& votes) { return decide(votes, 10s, 1ms).kind; }

TEST(Quorum, is_more_than_half_of_the_members) {
  EXPECT_EQ(quorum_of(3), 2U);
  EXPECT_EQ(quorum_of(4), 3U);
  EXPECT_EQ(quorum_of(5), 3U);
}

TEST(Quorum, a_majority_wins_with_its_largest_fence) {
  const std::vector votes{granted(7), silent, granted(9), busy(1s), granted(8)};
  const auto verdict = decide(votes, 10s, 1ms);
  EXPECT_EQ(verdict.kind, Verdict::Kind::won);
  EXPECT_EQ(verdict.fence, 9U);
}

TEST(Quorum, what_is_left_is_the_ttl_without_the_vote_and_the_drift) {
  const std::vector votes{granted(1), granted(1), granted(1)};
  EXPECT_EQ(decide(votes, 10s, 40ms).validity, 10s - 40ms - 102ms);
}

TEST(Quorum, a_majority_that_took_longer_than_the_lease_is_no_lock) {
  const std::vector votes{granted(1), granted(1), granted(1)};
  EXPECT_EQ(decide(votes, 10s, 9898ms).kind, Verdict::Kind::too_late);
  EXPECT_EQ(decide(votes, 10s, 9897ms).kind, Verdict::Kind::won);
  EXPECT_EQ(decide(votes, 10s, 1h).kind, Verdict::Kind::too_late);
}

TEST(Quorum, half_is_not_enough) {
  EXPECT_EQ(kind_of({granted(1), granted(1), busy(1s), busy(1s)}), Verdict::Kind::busy);
  EXPECT_EQ(kind_of({granted(1), granted(1), silent, silent}), Verdict::Kind::too_few);
}

TEST(Quorum, two_of_five_may_be_silent_and_three_may_not) {
  EXPECT_EQ(kind_of({granted(1), silent, granted(1), silent, granted(1)}), Verdict::Kind::won);
  EXPECT_EQ(kind_of({granted(1), silent, granted(1), silent, silent}), Verdict::Kind::too_few);
  EXPECT_EQ(kind_of({busy(1s), silent, granted(1), silent, silent}), Verdict::Kind::too_few);
  EXPECT_EQ(kind_of({busy(1s), silent, granted(1), silent, busy(1s)}), Verdict::Kind::busy);
}

TEST(Quorum, says_when_enough_of_those_in_the_way_have_ended) {
  // Two are ours again at once; one more must end.
  EXPECT_EQ(decide(std::vector{granted(1), granted(1), busy(3s), busy(2s), busy(9s)}, 10s, 1ms)
                .retry_after,
            2s);
  // Nothing is ours: the third of them.
  EXPECT_EQ(
      decide(std::vector{busy(5s), busy(4s), busy(3s), busy(2s), busy(9s)}, 10s, 1ms).retry_after,
      4s);
  EXPECT_EQ(decide(std::vector{busy(5s), silent, busy(3s), silent, busy(9s)}, 10s, 1ms).retry_after,
            9s);
}

TEST(Quorum, no_two_callers_win_whatever_the_members_say) {
  // Each member of n is A's, B's or silent: never does a majority speak for both.
  for (std::size_t members = 3; members <= 7; ++members) {
    std::size_t ways = 1;
    for (std::size_t at = 0; at < members; ++at) ways *= 3;
    for (std::size_t way = 0; way < ways; ++way) {
      std::vector<Vote> for_a;
      std::vector<Vote> for_b;
      for (std::size_t at = 0, rest = way; at < members; ++at, rest /= 3) {
        for_a.push_back(rest % 3 == 0 ? granted(1) : rest % 3 == 1 ? busy(1s) : silent);
        for_b.push_back(rest % 3 == 1 ? granted(1) : rest % 3 == 0 ? busy(1s) : silent);
      }
      const bool a_won = kind_of(for_a) == Verdict::Kind::won;
      const bool b_won = kind_of(for_b) == Verdict::Kind::won;
      ASSERT_FALSE(a_won && b_won) << members << " members, way " << way;
    }
  }
}

TEST(Quorum, a_lock_is_lost_when_too_few_members_can_still_have_known_of_it) {
  EXPECT_FALSE(was_lost(5, 0));
  EXPECT_FALSE(was_lost(5, 2));
  EXPECT_TRUE(was_lost(5, 3));
  EXPECT_FALSE(was_lost(3, 1));
  EXPECT_TRUE(was_lost(3, 2));
}

TEST(Members, are_urls_or_the_hosts_of_one_url_with_commas_between_them) {
  using Urls = std::vector<std::string>;
  EXPECT_EQ(split_members("redis://a:1, redis://b:2,memory:x"),
            (Urls{"redis://a:1", "redis://b:2", "memory:x"}));
  EXPECT_EQ(split_members("rediss://me:p%2Cw@a:1,b,[::1]:3/2?ca=x,y"),
            (Urls{"rediss://me:p%2Cw@a:1/2?ca=x,y", "rediss://me:p%2Cw@b/2?ca=x,y",
                  "rediss://me:p%2Cw@[::1]:3/2?ca=x,y"}));
  EXPECT_EQ(split_members("memory:one"), Urls{"memory:one"});
  EXPECT_EQ(split_members("redis://a"), Urls{"redis://a"});
}

TEST(Members, are_at_least_three_different_ones) {
  for (const auto* few : {"memory:a", "memory:a,memory:b", "redis://127.0.0.1:1"}) {
    const auto opened = Members::open(few);
    ASSERT_FALSE(opened) << few;
    EXPECT_NE(opened.error().message.find("RedLock requires at least 3 Redis instances. "
                                          "Recommended: 5 instances for optimal fault tolerance."),
              std::string::npos);
  }
  EXPECT_EQ(Members::open("memory:a,memory:b,memory:a").error().code, Errc::bad_input);
  EXPECT_EQ(Members::open("memory:a,memory:b,file:/x?durable=maybe").error().code, Errc::bad_input);
}

TEST(Members, that_cannot_be_reached_are_there_without_a_core) {
  const auto opened = Members::open("memory:q-a,redis://127.0.0.1:1,memory:q-b");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->size(), 3U);
  EXPECT_FALSE((*opened)->is_demo());
  const auto cores = (*opened)->cores();
  EXPECT_EQ(std::ranges::count(cores, nullptr), 1);
}

TEST(Members, are_five_in_memory_for_a_demo) {
  const auto opened = Members::open("");
  ASSERT_TRUE(opened);
  EXPECT_TRUE((*opened)->is_demo());
  EXPECT_EQ((*opened)->size(), 5U);
}

}  // namespace
}  // namespace holdfast::server::patterns
