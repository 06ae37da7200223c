// SPDX-License-Identifier: Apache-2.0
//
// A hundred clients against each other on one name, and what they were told, checked like every
// history.
#include "faults_redis/faults_fixture.hpp"
#include "faults_redlock/redlock_fixture.hpp"

#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <thread>

namespace holdfast::faults {
namespace {

class RedlockCrowd : public RedlockTest {
 protected:
  static constexpr unsigned clients = 100;

  void TearDown() override {
    const std::string title = testing::UnitTest::GetInstance()->current_test_info()->name();
    EXPECT_EQ(broken_promises(log, title), "") << "seed " << seed;
    cont();
    EXPECT_EQ(left_behind(), "") << "seed " << seed;
  }

  // Each has a client of its own. On a busy machine a hundred of them in one process are slow, and
  // whoever takes a slow member for a dead one never gets a majority: all times are long.
  void open_clients() {
    stalls.emplace(log, 1, clients);
    for (unsigned i = 0; i < clients; ++i) {
      callers.push_back(std::make_unique<Caller>(open_all("timeout=2s"), log, i + 1));
    }
  }

  void serve_each_once() {
    std::vector<std::jthread> threads;
    for (auto& caller : callers) {
      threads.emplace_back([&caller = *caller] {
        auto hold = caller.acquire({.lock = {.name = 1}, .ttl = 10s, .wait = 60s});
        ASSERT_TRUE(hold) << hold.error().error.message;
        EXPECT_TRUE(is_released(caller.release(*hold)));
      });
    }
  }

  // All of them take the lock again and again.
  void let_them_in(Micros time, const std::function<void()>& meanwhile = {}) {
    const auto until = SteadyClock::now() + time;
    std::vector<std::jthread> threads;
    for (auto& caller : callers) {
      threads.emplace_back([this, until, &caller = *caller, own = dice.seed()] {
        Dice mine(own);
        while (SteadyClock::now() < until) once(caller, mine);
      });
    }
    while (meanwhile && SteadyClock::now() < until) meanwhile();
    cont();
    threads.clear();
    fmt::print("{} grants, {} increments, {} refusals, {} losses\n", grants.load(),
               increments.load(), refusals.load(), losses.load());
  }

  void once(Caller& caller, Dice& mine) {
    auto hold = caller.acquire({.lock = {.name = 1},
                                .ttl = mine.time(1s, 2500ms),
                                .wait = mine.one_in(8) ? 0us : mine.time(500ms, 3s)});
    if (!hold) {
      ++refusals;
      return;
    }
    ++grants;
    if (caller.increment(*hold, mine.time(0us, 2ms))) ++increments;
    if (mine.one_in(20)) caller.keep(*hold, mine.time(0us, hold->ttl));
    if (hold->lease.lost().stop_requested()) ++losses;
    if (mine.one_in(8)) return caller.drop(std::move(*hold));
    caller.release(*hold);
  }

 public:
  SharedLog log{{"door"}};
  const std::uint64_t seed = choose_seed();
  Dice dice{seed};
  std::vector<std::unique_ptr<Caller>> callers;
  std::optional<StallWatch> stalls;
  std::atomic<unsigned> grants = 0;
  std::atomic<unsigned> increments = 0;
  std::atomic<unsigned> refusals = 0;
  std::atomic<unsigned> losses = 0;
};

TEST_F(RedlockCrowd, on_good_servers_shares_the_lock_one_by_one) {
  open_clients();
  serve_each_once();
  let_them_in(3s);
  EXPECT_EQ(log.value_of(1), increments.load());
}

TEST_F(RedlockCrowd, is_safe_while_members_are_stopped_killed_and_restarted) {
  open_clients();
  let_them_in(8s, [this] {
    const auto victim = static_cast<std::size_t>(dice.between(0, 4));
    const auto other = (victim + static_cast<std::size_t>(dice.between(1, 4))) % 5;
    switch (dice.between(0, 3)) {
      case 0:
        server(victim).kill();
        dice.rest(0us, 600ms);
        server(victim).restart();
        break;
      case 1:
      case 2:
        stop({victim, other});
        dice.rest(10ms, 700ms);
        cont();
        break;
      default:
        stop({victim, other, (other + 1) % 5});
        dice.rest(10ms, 500ms);
        cont();
        break;
    }
    // A member that forgot everything is not counted before the longest lease has ended.
    dice.rest(200ms, 1200ms);
  });
  EXPECT_GT(grants, 0U) << "nothing went on";
  serve_each_once();
  EXPECT_EQ(log.value_of(1), increments.load());
}

}  // namespace
}  // namespace holdfast::faults
