// SPDX-License-Identifier: Apache-2.0
//
// The handle that programs use: check, peek, reset, and what they say when something is wrong.
#include "recipes/rate_fixture.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using RateLimitTest = RateTest;

TEST_F(RateLimitTest, counts_until_nothing_is_left) {
  const auto limit = client.rate_limit("user-42", sliding(3, 10s));
  for (std::uint32_t left : {2U, 1U, 0U}) {
    const auto outcome = value_of(limit.check());
    EXPECT_TRUE(outcome.allowed);
    EXPECT_EQ(outcome.remaining, left);
    EXPECT_EQ(outcome.limit, 3U);
    EXPECT_EQ(outcome.count, 3U - left);
  }
  const auto denied = value_of(limit.check());
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.retry_after, 10s);
  EXPECT_EQ(denied.count, 3U) << "what is denied does not count";
  advance(10s);
  EXPECT_TRUE(value_of(limit.check()).allowed);
}

TEST_F(RateLimitTest, a_peek_counts_nothing_and_says_what_a_check_would) {
  const auto limit = client.rate_limit("user-42", sliding(1, 10s));
  EXPECT_TRUE(value_of(limit.peek()).allowed);
  EXPECT_TRUE(value_of(limit.peek()).allowed);
  EXPECT_TRUE(value_of(limit.check()).allowed);
  EXPECT_FALSE(value_of(limit.peek()).allowed);
}

TEST_F(RateLimitTest, a_reset_forgets_for_everybody) {
  const auto limit = client.rate_limit("user-42", sliding(1, 10s));
  const auto same = Client(client).rate_limit("user-42", sliding(1, 10s));
  EXPECT_TRUE(value_of(limit.check()).allowed);
  EXPECT_FALSE(value_of(same.check()).allowed);
  value_of(same.reset());
  EXPECT_TRUE(value_of(limit.check()).allowed);
}

TEST_F(RateLimitTest, a_cost_is_allowed_as_a_whole_or_not_at_all) {
  const auto limit = client.rate_limit("user-42", sliding(5, 10s));
  EXPECT_EQ(value_of(limit.check(3)).remaining, 2U);
  EXPECT_FALSE(value_of(limit.check(3)).allowed);
  EXPECT_EQ(value_of(limit.check(2)).remaining, 0U);
}

TEST_F(RateLimitTest, scopes_windows_and_algorithms_are_apart) {
  const auto one = client.rate_limit("a", sliding(1, 10s));
  EXPECT_TRUE(value_of(one.check()).allowed);
  EXPECT_TRUE(value_of(client.rate_limit("b", sliding(1, 10s)).check()).allowed);
  EXPECT_TRUE(value_of(client.rate_limit("a", sliding(1, 20s)).check()).allowed);
  const RateRule bucket{.algorithm = RateAlgorithm::token_bucket, .limit = 1, .window = 10s};
  EXPECT_TRUE(value_of(client.rate_limit("a", bucket).check()).allowed);
  EXPECT_FALSE(value_of(one.check()).allowed);
}

TEST_F(RateLimitTest, bad_input_names_the_field_and_asks_nothing) {
  const auto refusal = [&](std::string_view scope, const RateRule& rule, std::uint32_t cost = 1) {
    const auto outcome = client.rate_limit(scope, rule).check(cost);
    EXPECT_EQ(error_of(outcome), Errc::bad_input);
    return outcome ? "" : outcome.error().message;
  };
  EXPECT_THAT(refusal("", sliding(1, 1s)), StartsWith("scope:"));
  EXPECT_THAT(refusal(std::string(max_scope_bytes + 1, 'x'), sliding(1, 1s)), StartsWith("scope:"));
  EXPECT_THAT(refusal("a\nb", sliding(1, 1s)), StartsWith("scope:"));
  EXPECT_THAT(refusal("a", sliding(0, 1s)), StartsWith("limit:"));
  EXPECT_THAT(refusal("a", sliding(max_rate_limit + 1, 1s)), StartsWith("limit:"));
  EXPECT_THAT(refusal("a", sliding(1, 0s)), StartsWith("window:"));
  EXPECT_THAT(refusal("a", sliding(1, -1s)), StartsWith("window:"));
  EXPECT_THAT(refusal("a", sliding(2, 1s), 3), StartsWith("cost:"));
  EXPECT_THAT(refusal("a", sliding(2, 1s), 0), StartsWith("cost:"));
  EXPECT_THAT(refusal("a", {.limit = 2, .window = 1s, .burst = 1}), StartsWith("burst:"));
  const auto limit = client.rate_limit("a", sliding(1, 1s));
  EXPECT_THAT(limit.take(-1s).error().message, StartsWith("wait:"));
  EXPECT_THAT(limit.take(max_wait + 1us).error().message, StartsWith("wait:"));
  EXPECT_EQ(error_of(take(limit, max_wait + 1us).result()), Errc::bad_input);
  EXPECT_EQ(asked(), 0U);
}

TEST_F(RateLimitTest, an_answer_that_was_lost_is_not_asked_for_again_and_says_that_it_may_count) {
  const auto limit = client.rate_limit("user-42", sliding(5, 10s));
  line->script(Verb::count_hit, Fault::lose_reply());
  Running<Result<RateOutcome>> checking(limit.async_check());
  advance(1s);
  EXPECT_EQ(error_of(checking.result()), Errc::outcome_unknown);
  EXPECT_THAT(checking.result().error().message,
              HasSubstr("'user-42': the answer was lost, and the hit may have been counted"));
  EXPECT_EQ(asked(), 1U);
  EXPECT_EQ(value_of(limit.peek()).count, 1U) << "this one had been";
}

TEST_F(RateLimitTest, a_store_that_is_away_counts_nothing) {
  const auto limit = client.rate_limit("user-42", sliding(5, 10s));
  line->script(Verb::count_hit, Fault::refuse(), 2);
  EXPECT_EQ(error_of(limit.check()), Errc::unavailable);
  EXPECT_EQ(error_of(limit.reset()), Errc::unavailable);
  EXPECT_EQ(value_of(limit.peek()).count, 0U);
}

TEST_F(RateLimitTest, asked_by_many_threads_never_allows_more_than_the_limit) {
  auto real = runtime::shared_runtime();
  const Client shared(client::make_core(backends::memory::make_memory_store(real), real));
  std::atomic<int> allowed{0};
  {
    std::vector<std::jthread> threads;
    for (int each = 0; each < 8; ++each) {
      threads.emplace_back([&] {
        const auto limit = shared.rate_limit("crowd", sliding(100, 1h));
        for (int hit = 0; hit < 50; ++hit) allowed += value_of(limit.check()).allowed ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(allowed, 100);
}

}  // namespace
}  // namespace holdfast::test
