// SPDX-License-Identifier: Apache-2.0
#include "simulation/plan.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace holdfast::simulation {

namespace {

using model::LockSpec;

LockSpec some_kind(Dice& dice) {
  const Order order = dice.one_in(4) ? Order::barging : Order::fifo;
  switch (dice.below(6)) {
    case 0:
    case 1: return LockSpec::read_write(order);
    case 2: return LockSpec::semaphore(static_cast<std::uint32_t>(dice.between(2, 4)), order);
    case 3: return LockSpec::reentrant(order);
    default: return LockSpec::mutex(order);
  }
}

std::vector<LockPlan> some_locks(Dice& dice) {
  static constexpr std::array names{"orders", "stock", "report"};
  const std::size_t count = 1 + dice.below(names.size());
  std::vector<LockPlan> locks;
  for (std::size_t i = 0; i < count; ++i) {
    locks.push_back({LockName::make(names.at(i)).value(), some_kind(dice)});
  }
  return locks;
}

// A third of the faults at a time, so that each also meets the others' absence; at times none, and
// at times all of them.
Faults some_faults(Dice& dice) {
  Faults faults;
  const std::size_t mood = dice.below(16);
  if (mood == 0) return faults;
  const auto chance = [&](std::int64_t often, std::int64_t rarely) -> std::uint32_t {
    const bool chosen = mood == 1 || dice.one_in(3);
    const auto rate = static_cast<std::uint32_t>(dice.between(often, rarely));
    return chosen ? rate : 0;
  };
  faults.lose_request = chance(10, 200);
  faults.lose_reply = chance(10, 200);
  faults.lose_notice = chance(3, 60);
  faults.delay = chance(10, 200);
  faults.duplicate = chance(5, 100);
  faults.duplicate_notice = chance(2, 30);
  faults.hold_back_queued = chance(3, 60);
  faults.reorder = chance(1, 1) != 0;
  faults.stop = chance(50, 1000);
  faults.stop_at_grant = chance(5, 60);
  faults.cancel = chance(4, 30);
  faults.force = chance(4, 12);
  faults.crash = chance(3, 12);
  faults.partition = chance(1, 6);
  faults.cut_subscription = chance(1, 6);
  faults.restart = chance(2, 10);
  faults.amnesia = dice.one_in(2) ? chance(4, 20) : 0;
  faults.failover = dice.one_in(2) ? chance(4, 20) : 0;
  faults.step_clock = dice.one_in(2) ? chance(3, 12) : 0;
  return faults;
}

// The clocks of the servers agree in most seeds: exclusion is promised across a failover only as
// far as they do.
void add_servers(Plan& plan, Dice& dice) {
  ServersPlan& servers = plan.servers;
  servers.count = static_cast<unsigned>(dice.between(2, 3));
  servers.is_balanced = dice.one_in(3);
  servers.tells_who_it_is = !dice.one_in(3);
  servers.replication_lag = dice.between(50, 2000) * microsecond;
  const bool clocks_differ = dice.one_in(6);
  for (unsigned i = 0; i < servers.count; ++i) {
    servers.ahead_us.push_back(clocks_differ ? dice.between(-2'000'000, 2'000'000) : 0);
  }
  // As on Redis: a message goes to a process.
  plan.waiters_are_processes = false;
  plan.has_errands = true;
  if (dice.one_in(4)) plan.drift_ppm = 50'000;
  const std::int64_t fastest = plan.drift_ppm;
  plan.store_rate_ppm = dice.one_in(2) ? dice.between(-fastest, fastest) : 0;
  const bool any_fault = plan.faults.any_trouble();
  const auto chance = [&](std::int64_t often, std::int64_t rarely) -> std::uint32_t {
    const bool chosen = any_fault && dice.one_in(2);
    const auto rate = static_cast<std::uint32_t>(dice.between(often, rarely));
    return chosen ? rate : 0;
  };
  servers.stall_replication = chance(2, 8);
  servers.keep_snapshot = chance(1, 3);
  servers.refuse_writes = chance(3, 12);
  servers.change_rate = chance(1, 6);
  servers.late_copies = chance(1, 4);
  plan.faults.failover = chance(2, 8);
  plan.faults.amnesia = chance(2, 10);
}

// What the eight connections of a client, and a server that answers one request after the other,
// can renew in a third of the ttl.
std::int64_t most_leases(const Plan& plan) {
  constexpr std::int64_t connections = 8;
  const Time round_trip = plan.latency * 5 / 2 + plan.http.service_time;
  const Time each = std::max(round_trip / connections, plan.http.service_time);
  return plan.ttl / 3 / each;
}

// A crowd of leases that is well within what the servers and the line can bear, until they stand
// still for a moment. Nothing else goes wrong.
void add_hoard(Plan& plan, Dice& dice) {
  plan.faults = {.partition = 8};
  plan.http.fronts = 1;
  plan.http.answer_503 = 0;
  plan.http.stall = 3;
  plan.ttl = dice.between(6, 12) * second;
  plan.latency = dice.between(3, 12) * millisecond;
  plan.http.service_time = dice.between(100, 800) * microsecond;
  plan.longest_history_ttls = 6;
  switch (dice.below(4)) {
    case 0:  // thousands of them
      plan.ttl = dice.between(12, 24) * second;
      plan.latency = dice.between(500, 1000) * microsecond;
      plan.http.service_time = dice.between(50, 300) * microsecond;
      plan.longest_history_ttls = 4;
      break;
    case 1:
    case 2:  // few, of a server that is slow: a queue of eight is one of more than half a second
      plan.latency = dice.between(500, 3000) * microsecond;
      plan.http.service_time = dice.between(70, 120) * millisecond;
      plan.http.bytes_per_second = 0;
      // A claim of half a second would lapse behind such a queue.
      plan.store_queues = false;
      break;
    default: break;
  }
  plan.http.longest_stall = plan.ttl / 4;
  const auto count = static_cast<std::size_t>(most_leases(plan) * dice.between(25, 50) / 100);
  for (std::size_t i = 0; i < count; ++i) {
    plan.locks.push_back(
        {LockName::make("lease-" + std::to_string(i)).value(), LockSpec::mutex(Order::fifo)});
  }
  plan.processes = 2;
  plan.workers = 1;
  plan.enough_grants = UINT32_MAX;
}

void add_http(Plan& plan, Dice& dice) {
  plan.http.fronts = dice.one_in(3) ? 2 : 1;
  plan.http.service_time = dice.between(10, 500) * microsecond;
  plan.http.bytes_per_second = dice.one_in(3) ? dice.between(200, 20'000) * 1000 : 0;
  plan.latency = dice.between(50, 2000) * microsecond;
  plan.waiters_are_processes = false;
  plan.store_queues = true;
  plan.has_errands = dice.one_in(2);
  const bool any_fault = plan.faults.any_trouble();
  const auto chance = [&](std::int64_t often, std::int64_t rarely) -> std::uint32_t {
    const bool chosen = any_fault && dice.one_in(2);
    const auto rate = static_cast<std::uint32_t>(dice.between(often, rarely));
    return chosen ? rate : 0;
  };
  plan.http.answer_503 = chance(10, 200);
  plan.http.stall = chance(2, 8);
  plan.http.longest_stall = dice.between(plan.ttl / 20, 2 * plan.ttl);
  plan.faults.failover = chance(2, 8);
  if (dice.one_in(100)) add_hoard(plan, dice);
}

}  // namespace

Plan make_plan(StoreKind kind, Dice& dice) {
  Plan plan;
  plan.ttl = dice.between(1500, 4000) * millisecond;
  plan.processes = static_cast<unsigned>(dice.between(2, 4));
  plan.workers = static_cast<unsigned>(dice.between(1, 3));
  plan.enough_grants = static_cast<unsigned>(dice.between(90, 120));
  plan.latency = dice.between(50, 400) * microsecond;
  plan.store_rate_ppm = dice.one_in(2) ? dice.between(-10'000, 10'000) : 0;
  plan.store_queues = !dice.one_in(16);
  plan.waiters_are_processes = dice.one_in(4);
  plan.locks = some_locks(dice);
  plan.shared_locks = plan.locks.size();
  plan.faults = some_faults(dice);
  if (kind == StoreKind::http) add_http(plan, dice);
  if (kind == StoreKind::replicated) add_servers(plan, dice);
  return plan;
}

}  // namespace holdfast::simulation
