// SPDX-License-Identifier: Apache-2.0
//
// The server is killed and comes back empty, or stands still for a while.
#include "faults_redis/faults_fixture.hpp"

#include <thread>

namespace holdfast::faults {

namespace {

class Server : public FaultsTest {
 protected:
  // What was granted before the server ended is forgotten; nothing is granted while it is away.
  void kill_and_restart(Micros away) {
    const Time begin = log.now();
    server.kill();
    log.add({.what = What::data_lost});
    std::this_thread::sleep_for(away);
    server.restart();
    log.fault(What::unreachable, 0, begin, log.now());
  }
  void stop_for(Micros time) {
    const Time begin = log.now();
    server.stop();
    std::this_thread::sleep_for(time);
    server.cont();
    log.fault(What::stopped, 0, begin, log.now());
  }
};

TEST_F(Server, killed_and_empty_again_and_again_breaks_no_promise_but_the_one_about_its_data) {
  auto load = start_load();
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(dice.time(200ms, 700ms));
    kill_and_restart(dice.time(0ms, 400ms));
  }
  std::this_thread::sleep_for(500ms);
  end_load(*load, 100);
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
  kill_and_restart(0ms);
  const auto begin = stopwatch();
  for (const auto& hold : held) {
    EXPECT_TRUE(eventually([&] { return hold.lease.lost().stop_requested(); }, 3s));
    EXPECT_FALSE(hold.lease.valid());
  }
  EXPECT_LT(begin.time(), 1200ms);
  for (auto& hold : held) {
    const auto released = caller.release(hold);
    EXPECT_TRUE(released && *released == Released::already_expired);
  }
  auto next = caller.acquire({.lock = {.name = 1}, .ttl = 500ms, .wait = 1s});
  ASSERT_TRUE(next) << next.error().error.message;
  EXPECT_GT(next->lease.fence(), last_fence);
  EXPECT_TRUE(caller.release(*next));
}

class Stopped : public Server, public testing::WithParamInterface<double> {};

TEST_P(Stopped, leaves_no_ghost_and_grants_nothing_that_somebody_believes_in) {
  constexpr Micros ttl = 400ms;
  auto load = start_load({.least_ttl = ttl, .most_ttl = ttl});
  std::this_thread::sleep_for(300ms);
  stop_for(std::chrono::duration_cast<Micros>(GetParam() * ttl));
  std::this_thread::sleep_for(ttl);
  end_load(*load, 30);
}

INSTANTIATE_TEST_SUITE_P(ForSomeTtls, Stopped, testing::Values(0.5, 1, 2, 5),
                         [](const auto& times) {
                           return "times_ten_" + std::to_string(int(times.param * 10));
                         });

TEST_F(Server, that_stands_still_makes_its_holders_lose_their_leases_before_the_end) {
  constexpr Micros ttl = 500ms;
  Caller caller(must_open(), log, 1);
  auto hold = caller.acquire({.lock = {.name = 1}, .ttl = ttl});
  ASSERT_TRUE(hold);
  caller.keep(*hold, ttl);
  EXPECT_TRUE(caller.look(*hold));
  const Time begin = log.now();
  server.stop();
  const auto stopped_at = stopwatch();
  while (caller.look(*hold)) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(eventually([&] { return hold->lease.lost().stop_requested(); }, 100ms));
  EXPECT_LT(stopped_at.time(), ttl);
  server.cont();
  log.fault(What::stopped, 0, begin, log.now());
  // The server now reads the renewals that were on their way: they last for a ttl, not for ever.
  Caller other(must_open(), log, 2);
  auto next = other.acquire({.lock = {.name = 1}, .ttl = ttl, .wait = 2 * ttl});
  ASSERT_TRUE(next) << next.error().error.message;
  EXPECT_TRUE(other.release(*next));
  EXPECT_FALSE(hold->lease.valid());
}

TEST_F(Server, that_stands_still_keeps_nobody_from_cancelling_within_100_ms) {
  Caller holder(must_open(), log, 1);
  Caller waiter(must_open(), log, 2);
  auto hold = holder.acquire({.lock = {.name = 1}, .ttl = 900ms});
  ASSERT_TRUE(hold);
  std::jthread looking([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) holder.look(*hold), std::this_thread::sleep_for(10ms);
  });
  // One that waits in the queue already, and one whose question is not answered any more.
  for (const Micros asks_before : {Micros(200ms), Micros(-50ms)}) {
    std::stop_source stop;
    std::chrono::steady_clock::time_point cancelled_at;
    const Time begin = log.now();
    if (asks_before < 0us) server.stop();
    std::thread canceller([&] {
      std::this_thread::sleep_for(200ms);
      server.stop();
      std::this_thread::sleep_for(100ms);
      cancelled_at = std::chrono::steady_clock::now();
      stop.request_stop();
    });
    const auto answer =
        waiter.acquire({.lock = {.name = 1}, .ttl = 400ms, .wait = 10s}, stop.get_token());
    const auto ended_at = std::chrono::steady_clock::now();
    canceller.join();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error.code, Errc::cancelled) << answer.error().error.message;
    EXPECT_LT(ended_at - cancelled_at, 100ms);
    server.cont();
    log.fault(What::stopped, 0, begin, log.now());
    std::this_thread::sleep_for(100ms);
  }
  looking.request_stop();
  looking.join();
  holder.drop(std::move(*hold));
}

}  // namespace

}  // namespace holdfast::faults
