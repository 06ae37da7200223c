// SPDX-License-Identifier: Apache-2.0
//
// The server is killed and comes back empty, or stands still for a while.
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/trouble.hpp"

#include <thread>

namespace holdfast::faults {

namespace {

class Server : public FaultsTest {
 protected:
  // The load works, and goes on working.
  static void expect_grants(const Load& load, std::uint64_t more) {
    const auto enough = load.grants() + more;
    EXPECT_TRUE(eventually([&] { return load.grants() >= enough; }));
  }
};

TEST_F(Server, killed_and_empty_again_and_again_breaks_no_promise_but_the_one_about_its_data) {
  auto load = start_load();
  for (int i = 0; i < 5; ++i) {
    expect_grants(*load, static_cast<std::uint64_t>(dice.between(1, 20)));
    kill_and_restart(server, 400ms, log, dice);
  }
  end_load(*load, 50);
}

TEST_F(Server, that_comes_back_empty_is_noticed_and_every_lease_is_lost_within_a_second) {
  constexpr unsigned leases = 8;
  Caller caller(must_open(), log, 1);
  std::vector<Caller::Hold> held;
  for (unsigned i = 0; i < leases; ++i) {
    auto hold = caller.acquire({.lock = {.name = 5, .kind = Kind::semaphore, .capacity = leases},
                                .permits = 1,
                                .ttl = 20s});
    ASSERT_TRUE(hold) << hold.error().error.message;
    held.push_back(std::move(*hold));
  }
  std::uint64_t last_fence = held.back().lease.fence();
  kill_and_restart(server, 0ms, log, dice);
  const auto begin = stopwatch();
  for (const auto& hold : held) {
    EXPECT_TRUE(eventually([&] { return hold.lease.lost().stop_requested(); }));
    EXPECT_FALSE(hold.lease.valid());
  }
  EXPECT_LT(begin.time(), at_most(1200ms));
  for (auto& hold : held) {
    const auto released = caller.release(hold);
    EXPECT_TRUE(released && *released == Released::already_expired);
  }
  auto next = caller.acquire({.lock = {.name = 1}, .ttl = 20s, .wait = 10s});
  ASSERT_TRUE(next) << next.error().error.message;
  EXPECT_GT(next->lease.fence(), last_fence);
  EXPECT_TRUE(caller.release(*next));
}

class Stopped : public Server, public testing::WithParamInterface<double> {};

TEST_P(Stopped, leaves_no_ghost_and_grants_nothing_that_somebody_believes_in) {
  constexpr Micros ttl = 400ms;
  auto load = start_load({.least_ttl = ttl, .most_ttl = ttl});
  expect_grants(*load, 30);
  const auto time = std::chrono::duration_cast<Micros>(GetParam() * ttl);
  stop_for(server, time, time, log, dice);
  end_load(*load);
}

INSTANTIATE_TEST_SUITE_P(ForSomeTtls, Stopped, testing::Values(0.5, 1, 2, 5),
                         [](const auto& times) {
                           return "times_ten_" + std::to_string(int(times.param * 10));
                         });

TEST_F(Server, that_stands_still_makes_its_holders_lose_their_leases_before_the_end) {
  constexpr Micros ttl = 1500ms;
  Caller caller(must_open(), log, 1);
  auto hold = caller.acquire({.lock = {.name = 1}, .ttl = ttl, .renew_every = 50ms});
  ASSERT_TRUE(hold);
  const Time first_end = hold->until;
  EXPECT_TRUE(eventually([&] { return caller.look(*hold) && hold->until > first_end; }));
  const Time begin = log.now();
  server.stop();
  const auto stopped_at = stopwatch();
  EXPECT_TRUE(eventually([&] { return !caller.look(*hold); }));
  EXPECT_TRUE(eventually([&] { return hold->lease.lost().stop_requested(); }));
  EXPECT_LT(stopped_at.time(), at_most(ttl));
  server.cont();
  log.fault(What::stopped, 0, begin, log.now());
  // The server now reads the renewals that were on their way: they last for a ttl, not for ever.
  Caller other(must_open(), log, 2);
  auto next = other.acquire({.lock = {.name = 1}, .ttl = ttl, .wait = at_most(2 * ttl)});
  ASSERT_TRUE(next) << next.error().error.message;
  EXPECT_TRUE(other.release(*next));
  EXPECT_FALSE(hold->lease.valid());
}

TEST_F(Server, that_stands_still_keeps_nobody_from_cancelling_within_100_ms) {
  Caller holder(must_open(), log, 1);
  Caller waiter(must_open(), log, 2);
  auto hold = holder.acquire({.lock = {.name = 1}, .ttl = 30s, .renew = false});
  ASSERT_TRUE(hold);
  test::RawRedis raw(server);
  // One that waits in the queue already, and one whose question is not answered any more.
  for (const bool is_queued : {true, false}) {
    ASSERT_TRUE(eventually([&] { return waiting(raw, "m1") == 0; }));
    std::stop_source stop;
    std::chrono::steady_clock::time_point cancelled_at;
    const std::size_t asked_before = log.history().attempts.size();
    const Time begin = log.now();
    if (!is_queued) server.stop();
    std::thread canceller([&] {
      if (is_queued) {
        EXPECT_TRUE(eventually([&] { return waiting(raw, "m1") == 1; }));
        server.stop();
      } else {
        EXPECT_TRUE(eventually([&] { return log.history().attempts.size() > asked_before; }));
      }
      cancelled_at = std::chrono::steady_clock::now();
      stop.request_stop();
    });
    const auto answer =
        waiter.acquire({.lock = {.name = 1}, .ttl = 400ms, .wait = 20s}, stop.get_token());
    const auto ended_at = std::chrono::steady_clock::now();
    canceller.join();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error.code, Errc::cancelled) << answer.error().error.message;
    EXPECT_LT(ended_at - cancelled_at, at_most(100ms));
    server.cont();
    log.fault(What::stopped, 0, begin, log.now());
  }
  EXPECT_EQ(holder.release(*hold), Released::released);
}

}  // namespace

}  // namespace holdfast::faults
