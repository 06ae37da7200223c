// SPDX-License-Identifier: Apache-2.0
#include "client/tries.hpp"

#include "client/hand_client.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace holdfast::test {
namespace {

constexpr RetryPolicy steady{.attempts = 4, .first = 100ms, .factor = 2, .cap = 3s, .jitter = 0};

class Tries : public ClientTest {
 public:
  Running<Result<Lease>> start(LockedOptions options, std::stop_token stop = {}) {
    auto handle = std::make_shared<client::LockHandle>(
        mine.core, "orders", model::LockSpec::mutex(Order::automatic), all_permits);
    Running<Result<Lease>> trying(client::acquire_by_tries(
        std::move(handle), options, std::move(stop), std::source_location::current()));
    runtime->run();
    return trying;
  }
  // When the attempts were made, from the first one on.
  std::vector<std::int64_t> attempts_ms() const {
    std::vector<std::int64_t> found;
    const auto asked = mine.line->history(Verb::acquire);
    found.reserve(asked.size());
    for (const auto& each : asked) {
      found.push_back(
          std::chrono::floor<std::chrono::milliseconds>(each.at - asked.front().at).count());
    }
    return found;
  }
};

using Times = std::vector<std::int64_t>;

TEST_F(Tries, come_after_pauses_that_double_and_then_end) {
  const auto holder = other.take("orders");
  auto trying = start({.retry = steady});
  advance(1min);
  EXPECT_EQ(attempts_ms(), (Times{0, 100, 300, 700}));
  ASSERT_EQ(error_of(trying.result()), Errc::timed_out);
  EXPECT_THAT(trying.result().error().message, testing::StartsWith("4 attempts: 'orders'"));
  EXPECT_EQ(waiters("orders"), 0U) << "it never stands in line";
}

TEST_F(Tries, pause_no_longer_than_the_cap) {
  const auto holder = other.take("orders");
  auto trying =
      start({.retry = {.attempts = 6, .first = 100ms, .factor = 10, .cap = 2s, .jitter = 0}});
  advance(1min);
  EXPECT_EQ(attempts_ms(), (Times{0, 100, 1100, 3100, 5100, 7100}));
}

TEST_F(Tries, of_one_attempt_say_busy) {
  const auto holder = other.take("orders");
  auto trying = start({.retry = {.attempts = 1}});
  EXPECT_EQ(error_of(trying.result()), Errc::busy);
  EXPECT_EQ(attempts_ms(), (Times{0}));
}

TEST_F(Tries, end_with_the_wait_where_that_is_shorter) {
  const auto holder = other.take("orders");
  auto once = start({.wait = 50ms, .retry = steady});
  EXPECT_EQ(error_of(once.result()), Errc::busy) << "the next attempt would be too late";
  EXPECT_EQ(attempts_ms(), (Times{0}));
}

TEST_F(Tries, within_a_wait_of_150_ms_are_two) {
  const auto holder = other.take("orders");
  auto twice = start({.wait = 150ms, .retry = steady});
  advance(100ms);
  EXPECT_EQ(error_of(twice.result()), Errc::timed_out);
  EXPECT_EQ(attempts_ms(), (Times{0, 100}));
}

TEST_F(Tries, of_a_long_wait_are_still_no_more_than_the_attempts) {
  const auto holder = other.take("orders");
  auto trying = start({.wait = 60s, .retry = steady});
  advance(60s);
  EXPECT_EQ(attempts_ms().size(), 4U);
}

TEST_F(Tries, get_the_lock_as_soon_as_one_finds_it_free) {
  auto holder = other.take("orders");
  auto trying = start({.retry = steady});
  advance(150ms);
  value_of(holder.release());
  advance(150ms);
  EXPECT_TRUE(trying.result()->valid());
  EXPECT_EQ(attempts_ms(), (Times{0, 100, 300}));
}

TEST_F(Tries, outlive_a_store_that_is_away_for_a_moment) {
  mine.line->script(Verb::acquire, Fault::refuse(), 2);
  auto trying = start({.retry = steady});
  advance(300ms);
  EXPECT_TRUE(trying.result()->valid());
}

TEST_F(Tries, say_that_the_store_is_away_if_it_stays_away) {
  mine.line->script(Verb::acquire, Fault::refuse(), 100);
  auto trying = start({.retry = steady});
  advance(1s);
  EXPECT_EQ(error_of(trying.result()), Errc::unavailable);
}

TEST_F(Tries, do_not_repeat_what_will_not_pass) {
  auto semaphore = mine.api.semaphore("orders", 2);
  const auto holder = value_of(semaphore.acquire());
  const auto asked = mine.line->count(Verb::acquire);
  auto trying = start({.retry = steady});
  EXPECT_EQ(error_of(trying.result()), Errc::spec_mismatch);
  EXPECT_EQ(mine.line->count(Verb::acquire), asked + 1);
}

TEST_F(Tries, end_when_the_caller_stops_them) {
  const auto holder = other.take("orders");
  std::stop_source stop;
  auto trying = start({.retry = steady}, stop.get_token());
  advance(120ms);
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(trying.result()), Errc::cancelled);
  EXPECT_EQ(attempts_ms(), (Times{0, 100}));
}

TEST(PauseAfter, moves_by_its_share_of_jitter_either_way) {
  const RetryPolicy policy{.attempts = 5, .first = 100ms, .factor = 2, .cap = 1s, .jitter = 0.25};
  EXPECT_EQ(client::pause_after(policy, 1, 0), 75ms);
  EXPECT_EQ(client::pause_after(policy, 1, std::uint64_t{1} << 63U), 100ms);
  EXPECT_GT(client::pause_after(policy, 1, UINT64_MAX), 124ms);
  EXPECT_LE(client::pause_after(policy, 1, UINT64_MAX), 125ms);
  EXPECT_EQ(client::pause_after(policy, 3, std::uint64_t{1} << 63U), 400ms);
  EXPECT_EQ(client::pause_after(policy, 1000, std::uint64_t{1} << 63U), 1s) << "and no overflow";
}

}  // namespace
}  // namespace holdfast::test
