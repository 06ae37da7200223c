// SPDX-License-Identifier: Apache-2.0
//
// Waiting for one's turn: as long as it takes, not longer than it is worth, and not after a stop.
#include "recipes/rate_fixture.hpp"
#include "recipes/rate_limit.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class RateWait : public RateTest {
 protected:
  RateLimit used_up(Duration window = 10s) {
    auto limit = client.rate_limit("api", sliding(1, window));
    EXPECT_TRUE(value_of(limit.check()).allowed);
    return limit;
  }
};

TEST_F(RateWait, is_over_at_once_while_something_is_left) {
  const auto limit = client.rate_limit("api", sliding(1, 10s));
  auto taking = take(limit, 1min);
  EXPECT_TRUE(value_of(taking.result()).allowed);
  EXPECT_EQ(asked(), 1U);
}

TEST_F(RateWait, ends_when_the_store_said_it_would_with_a_little_jitter) {
  const auto limit = used_up();
  auto taking = take(limit, 1min);
  advance(9999ms);
  EXPECT_FALSE(taking.done());
  EXPECT_EQ(asked(), 2U) << "nobody asks again before it can be allowed";
  advance(102ms);
  EXPECT_TRUE(value_of(taking.result()).allowed);
  EXPECT_EQ(asked(), 3U);
}

TEST_F(RateWait, of_many_is_each_ones_turn_and_never_more_than_the_rate) {
  const auto limit = client.rate_limit("api", sliding(2, 1s));
  std::vector<Taking> waiting;
  for (int each = 0; each < 10; ++each) waiting.push_back(take(limit, 1h));
  const auto done = [&] {
    return std::ranges::count_if(waiting, [](const auto& each) { return each.done(); });
  };
  EXPECT_EQ(done(), 2);
  for (int second = 1; second <= 4; ++second) {
    const auto before = done();
    advance(999ms);
    EXPECT_LE(done(), before + 2);
  }
  advance(10s);
  EXPECT_EQ(done(), 10);
}

TEST_F(RateWait, without_a_wait_is_busy_and_says_when_to_come_again) {
  const auto denied = used_up().take(Duration::zero());
  EXPECT_EQ(error_of(denied), Errc::busy);
  EXPECT_EQ(denied.error().message,
            "'api' allows 1/10s, and nothing is left; the next is allowed in 10s");
  EXPECT_EQ(runtime->timers(), 0U);
}

TEST_F(RateWait, that_is_known_to_be_in_vain_is_not_slept_through) {
  auto taking = take(used_up(), 9s);
  EXPECT_EQ(error_of(taking.result()), Errc::timed_out);
  EXPECT_THAT(taking.result().error().message,
              HasSubstr("the next is allowed in 10s, later than the 9s of the wait"));
  EXPECT_EQ(asked(), 2U);
}

TEST_F(RateWait, that_is_just_long_enough_is_long_enough) {
  auto taking = take(used_up(), 10s);
  advance(10s);
  EXPECT_TRUE(value_of(taking.result()).allowed);
}

TEST_F(RateWait, that_loses_its_turn_to_another_gives_up_as_soon_as_that_is_known) {
  const auto limit = used_up();
  auto taking = take(limit, 12s);
  runtime->stall(10s);
  ASSERT_TRUE(value_of(limit.check()).allowed) << "another one comes first";
  advance(0s);
  EXPECT_FALSE(taking.done());
  advance(200ms);
  EXPECT_EQ(error_of(taking.result()), Errc::timed_out);
  EXPECT_EQ(asked(), 4U);
}

TEST_F(RateWait, that_is_cancelled_ends_at_once_and_counts_nothing) {
  const auto limit = used_up();
  std::stop_source stop;
  auto taking = take(limit, 1min, 1, stop.get_token());
  advance(5s);
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(taking.result()), Errc::cancelled);
  EXPECT_EQ(runtime->timers(), 0U);
  advance(5s);
  EXPECT_EQ(value_of(limit.peek()).count, 0U);
}

TEST_F(RateWait, that_was_cancelled_before_asks_nothing) {
  const auto limit = client.rate_limit("api", sliding(1, 10s));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of(limit.take(1min, 1, stop.get_token())), Errc::cancelled);
  EXPECT_EQ(asked(), 0U);
}

TEST_F(RateWait, outlasts_a_store_that_is_away_for_a_moment) {
  const auto limit = client.rate_limit("api", sliding(1, 10s));
  line->script(Verb::count_hit, Fault::refuse(), 3);
  auto taking = take(limit, 1min);
  EXPECT_FALSE(taking.done());
  advance(1s);
  EXPECT_TRUE(value_of(taking.result()).allowed);
  EXPECT_EQ(value_of(limit.peek()).count, 1U);
}

TEST_F(RateWait, for_a_store_that_stays_away_ends_with_its_error) {
  const auto limit = client.rate_limit("api", sliding(1, 10s));
  line->script(Verb::count_hit, Fault::refuse(), 1000);
  auto taking = take(limit, 5s);
  advance(4900ms);
  EXPECT_FALSE(taking.done());
  advance(1s);
  EXPECT_EQ(error_of(taking.result()), Errc::unavailable);
}

TEST_F(RateWait, whose_answer_was_lost_does_not_ask_again) {
  const auto limit = client.rate_limit("api", sliding(5, 10s));
  line->script(Verb::count_hit, Fault::lose_reply());
  auto taking = take(limit, 1min);
  advance(1s);
  EXPECT_EQ(error_of(taking.result()), Errc::outcome_unknown);
  EXPECT_EQ(asked(), 1U);
}

TEST_F(RateWait, in_a_bucket_is_for_the_next_tokens) {
  const RateRule rule{
      .algorithm = RateAlgorithm::token_bucket, .limit = 10, .window = 1s, .burst = 2};
  const auto limit = client.rate_limit("api", rule);
  EXPECT_TRUE(value_of(limit.check(2)).allowed);
  auto taking = take(limit, 1s, 2);
  advance(199ms);
  EXPECT_FALSE(taking.done());
  advance(30ms);
  EXPECT_TRUE(value_of(taking.result()).allowed);
}

// A coroutine frame that is thrown away in the middle of a wait.
TEST_F(RateWait, that_nobody_awaits_any_more_is_over) {
  const auto limit = used_up();
  {
    auto never_awaited = limit.async_take(1min);
  }
  EXPECT_EQ(asked(), 1U);
}

TEST(RateWaitForReal, blocks_the_calling_thread_until_its_turn_and_can_be_stopped_from_another) {
  auto real = runtime::shared_runtime();
  const Client client(client::make_core(backends::memory::make_memory_store(real), real));
  const auto limit = client.rate_limit("api", {.limit = 1, .window = 300ms});
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(value_of(limit.take(Duration::zero())).allowed);
  EXPECT_TRUE(value_of(limit.take(1min)).allowed);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 250ms);

  const auto slow = client.rate_limit("slow", {.limit = 1, .window = 1h});
  ASSERT_TRUE(value_of(slow.check()).allowed);
  std::stop_source stop;
  const std::jthread other([&] { stop.request_stop(); });
  EXPECT_EQ(error_of(slow.take(2h, 1, stop.get_token())), Errc::cancelled);
}

TEST(AfterAnswer, sleeps_no_longer_than_the_wait_whatever_the_random_number_says) {
  const auto question =
      value_of(recipes::make_question("api", {.rule = {.limit = 1, .window = 10s}}));
  const Result<RateOutcome> denied = RateOutcome{.limit = 1, .retry_after = 1s};
  recipes::TurnClock clock{.give_up_at = runtime::LocalTime(1050ms), .wait = 1050ms};
  for (std::uint64_t random = 0; random < 200'000; random += 997) {
    clock.random = random;
    const auto next = recipes::after_answer(question, denied, clock);
    ASSERT_TRUE(std::holds_alternative<runtime::LocalTime>(next));
    EXPECT_GE(std::get<runtime::LocalTime>(next), runtime::LocalTime(1s));
    EXPECT_LE(std::get<runtime::LocalTime>(next), clock.give_up_at);
  }
}

}  // namespace
}  // namespace holdfast::test
