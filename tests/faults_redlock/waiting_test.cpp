// SPDX-License-Identifier: Apache-2.0
//
// Those who wait for the lock, and those who stop to.
#include "faults_redis/faults_fixture.hpp"
#include "faults_redlock/redlock_fixture.hpp"
#include "support/fault_proxy.hpp"

#include <future>

namespace holdfast::faults {
namespace {

class Waiting : public RedlockTest {
 protected:
  // When a wait ended, and how.
  struct Turn {
    Result<Lease> lease;
    SteadyClock::time_point at;
  };
  static std::future<Turn> start_waiting(const Client& client, AcquireOptions options,
                                         std::stop_token stop = {}) {
    return std::async(std::launch::async, [client, options, stop] {
      auto lease = client.mutex("orders").acquire(options, stop);
      return Turn{std::move(lease), SteadyClock::now()};
    });
  }
  bool somebody_waits(const Client& client) {
    return eventually([&] {
      const auto seen = client.inspect("orders");
      return seen && !seen->waiters.empty();
    });
  }
};

// By itself a waiter asks about once a second, however long the delay between tries.
TEST_F(Waiting, is_ended_by_the_members_that_see_the_release) {
  const auto holder = open_all("retry_delay=30s&retry_jitter=0s");
  const auto waiter = open_all("retry_delay=30s&retry_jitter=0s");
  constexpr int rounds = 8;
  Micros sum{};
  for (int i = 0; i < rounds; ++i) {
    auto lease = holder.mutex("orders").acquire({.wait = 20s});
    ASSERT_TRUE(is_ok(lease));
    auto turn = start_waiting(waiter, {.wait = 20s});
    ASSERT_TRUE(somebody_waits(holder));
    const auto released_at = SteadyClock::now();
    EXPECT_TRUE(is_released(lease->release()));
    Turn got = turn.get();
    ASSERT_TRUE(is_ok(got.lease));
    sum += std::chrono::duration_cast<Micros>(got.at - released_at);
    EXPECT_TRUE(is_released(got.lease->release()));
  }
  EXPECT_LT(sum / rounds, at_most(200ms));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Waiting, is_ended_by_the_members_that_are_left) {
  const auto holder = open_all("retry_delay=30s&retry_jitter=0s");
  const auto waiter = open_all("retry_delay=30s&retry_jitter=0s");
  kill({0});
  stop({3});
  auto lease = holder.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  auto turn = start_waiting(waiter, {.wait = 20s});
  ASSERT_TRUE(somebody_waits(holder));
  EXPECT_TRUE(is_released(lease->release()));
  Turn got = turn.get();
  ASSERT_TRUE(is_ok(got.lease));
  EXPECT_TRUE(is_released(got.lease->release()));
  cont();
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Waiting, ends_with_the_ttl_of_a_holder_that_died) {
  const auto holder = open_all();
  const auto waiter = open_all();
  constexpr Micros ttl = 1500ms;
  const Stopwatch watch;
  auto lease = holder.mutex("orders").acquire({.ttl = ttl, .wait = 20s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  lease->detach();
  auto next = waiter.mutex("orders").acquire({.ttl = 5s, .wait = 20s});
  ASSERT_TRUE(is_ok(next));
  EXPECT_GE(watch.time(), ttl);
  EXPECT_LT(watch.time(), at_most(ttl + 2s));
  EXPECT_TRUE(is_released(next->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Waiting, ends_in_time_and_leaves_no_place_behind) {
  const auto holder = open_all();
  const auto waiter = open_all();
  auto lease = holder.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  const Stopwatch watch;
  const auto none = waiter.mutex("orders").acquire({.wait = 700ms});
  EXPECT_EQ(code_of(none), "timed_out") << message_of(none);
  EXPECT_GE(watch.time(), 700ms);
  EXPECT_LT(watch.time(), at_most(2s));
  EXPECT_TRUE(eventually([&] {
    const auto seen = holder.inspect("orders");
    return seen && seen->waiters.empty();
  }));
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Waiting, without_a_wait_busy_says_how_long_and_by_how_many) {
  const auto holder = open_all();
  auto lease = holder.mutex("orders").acquire({.ttl = 20s, .wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  ASSERT_TRUE(
      eventually([&] { return fences("orders") == std::vector<Fence>(5, lease->fence()); }));
  const auto busy = open_all("retries=0").mutex("orders").try_acquire();
  ASSERT_EQ(code_of(busy), "busy");
  EXPECT_THAT(message_of(busy), testing::ContainsRegex("[345] of 5 members"));
  EXPECT_THAT(message_of(busy), testing::ContainsRegex("ends in (1[0-9]*m?s|20s)"));
}

TEST_F(Waiting, that_is_cancelled_while_it_stands_in_line_leaves_nothing) {
  const auto holder = open_all();
  const auto waiter = open_all();
  auto lease = holder.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  std::stop_source stop;
  auto turn = start_waiting(waiter, {.wait = 20s}, stop.get_token());
  ASSERT_TRUE(somebody_waits(holder));
  const Stopwatch watch;
  stop.request_stop();
  EXPECT_EQ(code_of(turn.get().lease), "cancelled");
  EXPECT_LT(watch.time(), at_most(1s));
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_EQ(left_behind(), "");
}

// The commands are on their way, were heard, or are answered, when the caller wants them no more.
TEST_F(Waiting, that_is_cancelled_in_the_middle_of_a_vote_leaves_nothing) {
  std::vector<std::unique_ptr<test::FaultProxy>> lines;
  std::vector<std::uint16_t> through;
  for (const auto port : ports()) {
    lines.push_back(std::make_unique<test::FaultProxy>(port));
    through.push_back(lines.back()->port());
  }
  const auto client = must_open(redlock_url(through));
  for (auto& line : lines) {
    line->delay_requests(20ms);
    line->delay_replies(20ms);
  }
  Dice dice(choose_seed());
  int cancelled = 0;
  for (int i = 0; i < 30; ++i) {
    std::stop_source stop;
    auto turn = start_waiting(client, {.wait = i % 2 == 0 ? 0s : 5s}, stop.get_token());
    dice.rest(0us, 90ms);
    stop.request_stop();
    Turn got = turn.get();
    if (got.lease) {
      EXPECT_TRUE(is_released(got.lease->release()));
      continue;
    }
    EXPECT_EQ(code_of(got.lease), "cancelled") << message_of(got.lease);
    ++cancelled;
  }
  EXPECT_GT(cancelled, 5);
  EXPECT_EQ(left_behind(), "") << "its ttl is 30 s";
}

// Nobody is asked in vain while the lock is held.
TEST_F(Waiting, for_long_costs_few_commands) {
  const auto holder = open_all("retry_delay=30s&retry_jitter=0s");
  const auto waiter = open_all("retry_delay=30s&retry_jitter=0s");
  auto lease = holder.mutex("orders").acquire({.wait = 20s});
  ASSERT_TRUE(is_ok(lease));
  auto turn = start_waiting(waiter, {.wait = 20s});
  ASSERT_TRUE(somebody_waits(holder));
  // About one question a second to each of the five: the second lot comes long after the first.
  const auto before = commands_sent();
  ASSERT_TRUE(eventually([&] { return commands_sent() >= before + size(); }));
  const Stopwatch watch;
  ASSERT_TRUE(eventually([&] { return commands_sent() >= before + 2 * size() + 1; }));
  EXPECT_GE(watch.time(), 500ms);
  EXPECT_TRUE(is_released(lease->release()));
  EXPECT_TRUE(is_ok(turn.get().lease));
}

}  // namespace
}  // namespace holdfast::faults
