// SPDX-License-Identifier: Apache-2.0
//
// The server is killed and comes back with what it had written to its disk: a snapshot that is
// older than what it granted since, or an append-only file that has everything.
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/trouble.hpp"
#include "faults_redis/wall_clock.hpp"

#include <fmt/format.h>

#include <memory>
#include <thread>

namespace holdfast::faults {

namespace {

// Fences that a snapshot does not know must not be given out again. `orders` is not in it.
class ReturnedSnapshot : public FaultsTest {
 protected:
  static constexpr Micros long_ttl = 60s;
  explicit ReturnedSnapshot(std::vector<std::string> names = {"orders"})
      : FaultsTest(std::move(names)) {}

  void save() { ASSERT_EQ(test::RawRedis(server).text({"SAVE"}), "OK"); }
  Caller::Answer ask(Caller& caller, history::NameId name = 1) {
    return caller.acquire({.lock = {.name = name}, .ttl = long_ttl, .wait = 30s});
  }
  // Grants that the snapshot does not know; the last fence.
  Fence grant_five(Caller& caller) {
    Fence last = 0;
    for (int i = 0; i < 5; ++i) {
      auto hold = ask(caller);
      if (!hold) throw std::runtime_error(hold.error().error.message);
      EXPECT_GT(hold->lease.fence(), last);
      last = hold->lease.fence();
      EXPECT_EQ(caller.release(*hold), Released::released);
    }
    return last;
  }
  void return_to_the_snapshot() { kill_and_restart(server, 0ms, log, dice); }
  void expect_larger_fence(Caller& caller, Fence last) {
    auto next = ask(caller);
    ASSERT_TRUE(next) << next.error().error.message;
    EXPECT_GT(next->lease.fence(), last) << "a fence was given out twice";
    EXPECT_EQ(caller.release(*next), Released::released);
  }
};

TEST_F(ReturnedSnapshot, repeats_no_fence_in_a_hand_over) {
  Caller caller(must_open(), log, 1);
  Caller other(must_open(), log, 2);
  save();
  const Fence last = grant_five(caller);
  return_to_the_snapshot();
  auto first = ask(caller);
  ASSERT_TRUE(first) << first.error().error.message;
  EXPECT_GT(first->lease.fence(), last);
  std::jthread waiter([&] { expect_larger_fence(other, first->lease.fence()); });
  test::RawRedis raw(server);
  EXPECT_TRUE(eventually([&] { return waiting(raw, "orders") == 1; }));
  EXPECT_EQ(caller.release(*first), Released::released);
}

TEST_F(ReturnedSnapshot, again_and_again_under_load_breaks_no_promise_but_the_one_about_its_data) {
  auto load = start_load({.locks = {{.name = 1}}});
  for (int i = 0; i < 4; ++i) {
    const auto enough = load->grants() + 10;
    EXPECT_TRUE(eventually([&] { return load->grants() >= enough; }));
    save();
    EXPECT_TRUE(eventually([&] { return load->grants() >= enough + 10; }));
    kill_and_restart(server, 100ms, log, dice);
  }
  end_load(*load, 50);
}

std::vector<std::string> with_append_only_file() {
  return {"--appendonly", "yes", "--appendfsync", "always"};
}

// Everything that was told is on the disk: nothing is excused.
class AppendOnly : public FaultsTest {
 protected:
  AppendOnly() : FaultsTest(mixed_names(), with_append_only_file()) {}
  void kill_and_return() {
    const Time begin = log.now();
    server.kill();
    dice.rest(0us, 150ms);
    server.restart();
    log.fault(What::unreachable, 0, begin, log.now());
  }
};

TEST_F(AppendOnly, server_that_is_killed_under_load_comes_back_and_breaks_no_promise) {
  auto load = start_load();
  for (int i = 0; i < 4; ++i) {
    const auto enough = load->grants() + 20;
    EXPECT_TRUE(eventually([&] { return load->grants() >= enough; }));
    kill_and_return();
  }
  end_load(*load, 50);
}

TEST_F(AppendOnly, server_that_is_killed_keeps_leases_and_queues) {
  Caller holder(must_open(), log, 1);
  Caller waiter(must_open(), log, 2);
  auto hold = holder.acquire({.lock = {.name = 1}, .ttl = 60s});
  ASSERT_TRUE(hold) << hold.error().error.message;
  std::jthread turn([&] {
    auto next = waiter.acquire({.lock = {.name = 1}, .ttl = 60s, .wait = at_most(30s)});
    ASSERT_TRUE(next) << next.error().error.message;
    EXPECT_GT(next->lease.fence(), hold->lease.fence());
    EXPECT_EQ(waiter.release(*next), Released::released);
  });
  const auto has_waiter = [&] {
    test::RawRedis raw(server);
    return eventually([&] { return waiting(raw, "m1") == 1; });
  };
  ASSERT_TRUE(has_waiter());
  kill_and_return();
  ASSERT_TRUE(has_waiter());
  EXPECT_TRUE(holder.look(*hold));
  EXPECT_TRUE(eventually([&] { return holder.client().inspect("m1").has_value(); }));
  EXPECT_EQ(holder.release(*hold), Released::released);
}

// The server's wall clock is set while clients hold and wait.
class SteppedClock : public FaultsTest, public testing::WithParamInterface<int> {
 protected:
  // The clock is there before the server.
  SteppedClock() : SteppedClock(std::make_unique<WallClock>()) {}
  Micros by() const { return std::chrono::seconds(GetParam()); }

 private:
  explicit SteppedClock(std::unique_ptr<WallClock> made)
      : FaultsTest(mixed_names(), {}, made->environment()), clock(std::move(made)) {}

 public:
  const std::unique_ptr<WallClock> clock;
};

TEST_P(SteppedClock, under_load_takes_no_fence_back) {
  auto load = start_load();
  for (int i = 0; i < 4; ++i) {
    const auto enough = load->grants() + 15;
    EXPECT_TRUE(eventually([&] { return load->grants() >= enough; }));
    // Leases last longer by as much as the clock is set back, and end when it is corrected.
    clock->step(i % 2 == 0 ? by() : -by(), log);
    if (i % 2 == 0 && by() < 0s) {
      dice.rest(20ms, 300ms);
      clock->step(-by(), log);
      ++i;
    }
  }
  end_load(*load, 50);
}

TEST_P(SteppedClock, between_grants_lets_fences_grow) {
  Caller caller(must_open(), log, 1);
  Fence last = 0;
  for (int i = 0; i < 6; ++i) {
    clock->step(i % 2 == 0 ? by() : -by(), log);
    auto hold = caller.acquire({.lock = {.name = 1}, .ttl = 5s, .wait = at_most(20s)});
    ASSERT_TRUE(hold) << hold.error().error.message;
    EXPECT_GT(hold->lease.fence(), last);
    last = hold->lease.fence();
    EXPECT_EQ(caller.release(*hold), Released::released);
  }
}

INSTANTIATE_TEST_SUITE_P(By, SteppedClock, testing::Values(-3600, -1, 1, 3600), [](const auto& by) {
  return fmt::format("{}_{}_s", by.param > 0 ? "plus" : "minus", std::abs(by.param));
});

}  // namespace

}  // namespace holdfast::faults
