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

std::vector<std::string> names_of_orders() {
  std::vector<std::string> names;
  for (int i = 1; i <= 8; ++i) names.push_back(fmt::format("orders:{}", i));
  return names;
}

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
  // The connection is made anew, and whatever it says first by itself is said.
  static void wait_for_server(const Client& client) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(eventually([&] { return client.inspect("anything").has_value(); }));
    }
  }
  void expect_larger_fence(Caller& caller, Fence last) {
    auto next = ask(caller);
    ASSERT_TRUE(next) << next.error().error.message;
    EXPECT_GT(next->lease.fence(), last) << "a fence was given out twice";
    EXPECT_EQ(caller.release(*next), Released::released);
  }
};

// A re-entry shares the fence of the lease, so that the counter is not looked at.
TEST_F(ReturnedSnapshot, repeats_no_fence_after_a_re_entry) {
  Caller caller(must_open(), log, 1);
  const AcquireOptions mine{.ttl = long_ttl, .wait = 30s, .owner = "me"};
  auto ledger = caller.client().reentrant("ledger").acquire(mine);
  ASSERT_TRUE(ledger) << ledger.error().message;
  save();
  const Fence last = grant_five(caller);
  return_to_the_snapshot();
  wait_for_server(caller.client());
  auto again = caller.client().reentrant("ledger").acquire(mine);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->fence(), ledger->fence());
  expect_larger_fence(caller, last);
}

// Nor does a lease that becomes shared.
TEST_F(ReturnedSnapshot, repeats_no_fence_after_a_downgrade) {
  Caller caller(must_open(), log, 1);
  auto ledger = caller.client().read_write("ledger").acquire({.ttl = long_ttl, .wait = 30s});
  ASSERT_TRUE(ledger) << ledger.error().message;
  save();
  const Fence last = grant_five(caller);
  return_to_the_snapshot();
  wait_for_server(caller.client());
  ASSERT_TRUE(ledger->downgrade());
  expect_larger_fence(caller, last);
}

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

// Commands that are made while there is no connection are the first ones on the next, whose server
// may have all the scripts already, and so does not refuse them.
class QueuedCommands : public ReturnedSnapshot {
 protected:
  QueuedCommands() : ReturnedSnapshot(names_of_orders()) {}
};

TEST_F(QueuedCommands, repeat_no_fence_that_the_server_forgot) {
  test::FaultProxy line(server.port());
  Caller caller(must_open(line.url()), log, 1);
  Caller other(must_open(), log, 2);
  auto held = other.client().mutex("held").acquire({.ttl = long_ttl});
  ASSERT_TRUE(held) << held.error().message;
  save();
  const Fence last = grant_five(caller);
  line.refuse(true);
  return_to_the_snapshot();
  // Loads the script, and is given no fence.
  EXPECT_TRUE(eventually([&] {
    const auto busy = other.client().mutex("held").acquire();
    return !busy && busy.error().code == Errc::busy;
  }));
  // The login takes a while, and what is asked for meanwhile is sent after it.
  const auto connections = line.counts().connections;
  line.delay_requests(700ms);
  line.refuse(false);
  EXPECT_TRUE(eventually([&] { return line.counts().connections >= connections + 2; }));
  std::vector<std::jthread> turns;
  turns.reserve(log.names().size());
  for (history::NameId name = 1; name <= log.names().size(); ++name) {
    turns.emplace_back([&, name] {
      auto hold = ask(caller, name);
      ASSERT_TRUE(hold) << hold.error().error.message;
      EXPECT_GT(hold->lease.fence(), last) << "a fence was given out twice";
      EXPECT_EQ(caller.release(*hold), Released::released);
    });
  }
  line.all_well();
  turns.clear();
  EXPECT_TRUE(held->release());
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
