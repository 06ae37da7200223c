// SPDX-License-Identifier: Apache-2.0
//
// The server behind the address changes: failovers that keep connections and failovers that cut
// them, and addresses that lead to several servers in turn.
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/topology.hpp"
#include "faults_redis/trouble.hpp"

#include <sys/resource.h>

#include <atomic>
#include <thread>

namespace holdfast::faults {

namespace {

class Replicated : public FaultsTest {
 protected:
  static constexpr Micros ttl = 20s;
  explicit Replicated(std::vector<std::string> names = mixed_names())
      : FaultsTest(std::move(names), for_replication()) {}

  Client open_here() { return must_open(topology.url()); }

  // Waits for its turn, works, and lets go.
  std::jthread turn(Caller& caller, std::atomic<int>& served) {
    return std::jthread([&] {
      auto hold = caller.acquire({.lock = {.name = 1}, .ttl = ttl, .wait = at_most(20s)});
      EXPECT_TRUE(hold) << hold.error().error.message;
      if (!hold) return;
      ++served;
      // Shorter than the first renewal, which would show that there is another holder.
      caller.increment(*hold, 60ms);
      const auto released = caller.release(*hold);
      EXPECT_TRUE(released == Released::released)
          << (released ? "somebody else had it" : released.error().message);
    });
  }
  bool has_waiters(std::size_t many) {
    test::RawRedis raw(topology.primary());
    return eventually([&] { return waiting(raw, "m1") == many; });
  }
  // Those callers queue one after the other behind a holder, and get the lock.
  void hand_through(Caller& holder, const std::vector<Caller*>& callers) {
    auto hold = holder.acquire({.lock = {.name = 1}, .ttl = ttl, .wait = at_most(20s)});
    ASSERT_TRUE(hold) << hold.error().error.message;
    std::atomic<int> served = 0;
    std::vector<std::jthread> turns;
    turns.reserve(callers.size());
    for (Caller* const each : callers) {
      turns.push_back(turn(*each, served));
      ASSERT_TRUE(has_waiters(turns.size()));
    }
    EXPECT_EQ(holder.release(*hold), Released::released);
    turns.clear();
    EXPECT_EQ(served, static_cast<int>(callers.size()));
  }
  std::uint64_t keep_going(const Load& load, std::uint64_t more) {
    const auto enough = load.grants() + more;
    EXPECT_TRUE(eventually([&] { return load.grants() >= enough; }));
    return load.grants();
  }
  void TearDown() override {
    store = &topology.primary();
    FaultsTest::TearDown();
  }

 public:
  test::RedisServer second{for_replication()};
  Topology topology{server, second};
};

// The subscription of a client that was there before stays with the old primary, which answers
// PING and passes on what is published at the new one.
TEST_F(Replicated, failover_that_keeps_connections_makes_no_two_holders) {
  Caller holder(open_here(), log, 1);
  Caller old(open_here(), log, 2);
  topology.failover(log);
  Caller fresh(open_here(), log, 3);
  for (int i = 0; i < 5; ++i) hand_through(holder, {&old, &fresh});
}

TEST_F(Replicated, hand_over_by_replicaof_makes_no_two_holders) {
  Caller holder(open_here(), log, 1);
  Caller old(open_here(), log, 2);
  topology.hand_over(log);
  Caller fresh(open_here(), log, 3);
  for (int i = 0; i < 5; ++i) hand_through(holder, {&old, &fresh});
}

TEST_F(Replicated, failover_while_waiters_are_queued_serves_them_one_at_a_time) {
  Caller holder(open_here(), log, 1);
  Caller old(open_here(), log, 2);
  Caller other(open_here(), log, 3);
  for (int i = 0; i < 3; ++i) {
    auto hold = holder.acquire({.lock = {.name = 1}, .ttl = ttl, .wait = at_most(20s)});
    ASSERT_TRUE(hold) << hold.error().error.message;
    std::atomic<int> served = 0;
    std::vector<std::jthread> turns;
    turns.push_back(turn(old, served));
    ASSERT_TRUE(has_waiters(1));
    topology.failover(log);
    Caller fresh(open_here(), log, 4);
    turns.push_back(turn(fresh, served));
    turns.push_back(turn(other, served));
    ASSERT_TRUE(has_waiters(3));
    EXPECT_EQ(holder.release(*hold), Released::released);
    turns.clear();
    EXPECT_EQ(served, 3);
  }
}

// No failover at all: the connection for commands insists on a primary, and the other one must not
// be satisfied with a replica. An address like that may as well be refused.
TEST_F(Replicated, address_that_leads_to_several_servers_in_turn_makes_no_two_holders) {
  Caller holder(must_open(server.url()), log, 1);
  Caller direct(must_open(server.url()), log, 2);
  topology.relay().lead_to({server.port(), second.port()});
  std::vector<std::unique_ptr<Caller>> balanced;
  for (ProcessId i = 0; i < 3; ++i) {
    auto client = open(topology.url());
    if (client) {
      balanced.push_back(std::make_unique<Caller>(std::move(*client), log, 3 + i));
    } else {
      EXPECT_EQ(client.error().code, Errc::unsupported) << client.error().message;
    }
  }
  std::vector<Caller*> callers;
  for (const auto& each : balanced) callers.push_back(each.get());
  callers.push_back(&direct);
  for (int i = 0; i < 5; ++i) hand_through(holder, callers);
}

// The old primary answers PING, but what is published at the new one does not reach it.
TEST_F(Replicated, waiter_whose_messages_are_on_the_old_primary_is_not_passed_over_for_ever) {
  Caller old(open_here(), log, 1);
  topology.strand_old_primary(log);
  std::vector<std::unique_ptr<Caller>> others;
  for (ProcessId i = 0; i < 2; ++i) {
    others.push_back(std::make_unique<Caller>(open_here(), log, 2 + i));
  }
  std::atomic<int> turns = 0;
  std::vector<std::jthread> crowd;
  for (int i = 0; i < 4; ++i) {
    crowd.emplace_back([&, i](const std::stop_token& stop) {
      Caller& caller = *others[static_cast<std::size_t>(i) % others.size()];
      while (!stop.stop_requested()) {
        auto hold = caller.acquire({.lock = {.name = 1}, .ttl = ttl, .wait = at_most(20s)});
        if (!hold) continue;
        ++turns;
        caller.increment(*hold, 2ms);
        caller.release(*hold);
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return turns > 20; }));
  for (int i = 0; i < 3; ++i) {
    auto hold = old.acquire({.lock = {.name = 1}, .ttl = ttl, .wait = 15s});
    EXPECT_TRUE(hold) << hold.error().error.message << ", while others had " << turns << " turns";
    if (!hold) break;
    old.increment(*hold);
    EXPECT_EQ(old.release(*hold), Released::released);
  }
}

TEST_F(Replicated, load_goes_on_over_failovers_that_lose_nothing) {
  auto load = start_load({.urls = {topology.url()}});
  for (int i = 0; i < 4; ++i) {
    keep_going(*load, 20);
    i % 2 == 0 ? topology.failover(log) : topology.hand_over(log);
  }
  end_load(*load, 50);
}

// What the replica did not have is lost, and leases with it. Fences go on all the same.
TEST_F(Replicated, load_over_failovers_that_lose_data_breaks_no_promise_but_the_one_about_it) {
  auto load = start_load({.urls = {topology.url()}});
  for (int i = 0; i < 3; ++i) {
    keep_going(*load, 20);
    topology.hold_replication();
    keep_going(*load, 10);
    topology.crash_over(log, dice);
  }
  end_load(*load, 50);
}

TEST_F(Replicated, load_behind_an_address_that_leads_to_both_in_turn_breaks_no_promise) {
  topology.relay().lead_to({server.port(), second.port()});
  auto client = open(topology.url());
  if (!client && client.error().code == Errc::unsupported) return;
  auto load = start_load({.urls = {topology.url(), server.url()}});
  keep_going(*load, 100);
  topology.relay().cut();
  keep_going(*load, 50);
  end_load(*load, 200);
}

// Each is refused, by a greeting that may be answered before `open` has all its parts together. The
// threads that open have a low priority, so that the one that answers often overtakes them.
TEST_F(Replicated, replica_refuses_every_client_and_crashes_none) {
  constexpr int threads = 16;
  constexpr int each = 10;
  must_open();
  std::atomic<int> refused = 0;
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19);
      for (int k = 0; k < each; ++k) {
        auto client = open(second.url() + "?connect_timeout=200ms");
        if (!client && client.error().code == Errc::unavailable) ++refused;
      }
    });
  }
  all.clear();
  EXPECT_EQ(refused, threads * each);
}

}  // namespace

}  // namespace holdfast::faults
