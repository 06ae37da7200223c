// SPDX-License-Identifier: Apache-2.0
//
// What a lease has to survive: its holder is not scheduled for two seconds right after a hand-over,
// and the members of a redlock: that forget nothing are restarted one after the other.
#include <holdfast/holdfast.hpp>

#include "support/bars.hpp"
#include "support/processes.hpp"
#include "support/redis_server.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;
using test::RedisServer;

constexpr std::size_t pauses = 5;
constexpr std::size_t lease_count = 100;
constexpr std::size_t member_count = 5;

void wait_for(const std::atomic<int>& word, int value) {
  for (int i = 0; i < 30'000; ++i) {
    if (word.load() >= value) return;
    std::this_thread::sleep_for(1ms);
  }
  give_up("a process of the benchmark did not come so far");
}

Lease must(Result<Lease> lease) {
  if (!lease) give_up(lease.error().message);
  return std::move(*lease);
}

struct Handover {
  std::atomic<int> stage{0};
  std::atomic<int> heir{0};  // its pid
  std::atomic<int> is_kept{0};
};

enum Stage { held = 1, waits, handed_over, pause_is_over, judged };

void first_holder(const std::string& url, Handover& shared) {
  const Client client = open(url).value();
  Lease lease = must(client.mutex("survival").acquire({.wait = 5s}));
  shared.stage = held;
  wait_for(shared.stage, waits);
  std::this_thread::sleep_for(100ms);  // the other one is in the queue by then
  if (auto released = lease.release(); !released) give_up(released.error().message);
}

void next_holder(const std::string& url, Handover& shared) {
  const Client client = open(url).value();
  wait_for(shared.stage, held);
  shared.heir = getpid();
  shared.stage = waits;
  const Lease lease = must(client.mutex("survival").acquire({.ttl = 30s, .wait = 20s}));
  shared.stage = handed_over;
  wait_for(shared.stage, pause_is_over);
  std::this_thread::sleep_for(200ms);
  shared.is_kept = lease.valid() && !lease.lost().stop_requested() ? 1 : 0;
  shared.stage = judged;
}

bool survives_a_pause(const std::string& url) {
  const Shared<Handover> shared;
  Children both(2, [&](std::size_t index) {
    index == 0 ? first_holder(url, *shared) : next_holder(url, *shared);
  });
  wait_for(shared->stage, handed_over);
  std::this_thread::sleep_for(50ms);
  kill(shared->heir, SIGSTOP);
  std::this_thread::sleep_for(2s);
  kill(shared->heir, SIGCONT);
  shared->stage = pause_is_over;
  both.wait();
  return shared->is_kept == 1;
}

void measure_pauses() {
  const RedisServer server;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pauses; ++i) kept += survives_a_pause(server.url()) ? 1 : 0;
  const auto share = static_cast<double>(kept) / pauses;
  print_row("kept, stopped for 2 s 50 ms after a hand-over", {share}, "of all");
  bar_at_least("redis.handover_pause_survived", share, 1);
}

void measure_rolling_restart() {
  std::vector<std::unique_ptr<RedisServer>> members;
  std::string url = "redlock://";
  for (std::size_t i = 0; i < member_count; ++i) {
    const std::vector<std::string> arguments{"--appendonly", "yes", "--appendfsync", "always"};
    members.push_back(std::make_unique<RedisServer>(arguments));
    url += fmt::format("{}127.0.0.1:{}", i == 0 ? "" : ",", members.back()->port());
  }
  auto client = open(url + "?timeout=1s");
  if (!client) give_up(client.error().message);
  std::vector<Lease> leases;
  for (std::size_t i = 0; i < lease_count; ++i) {
    const auto name = fmt::format("survival:{}", i);
    leases.push_back(must(client->mutex(name).acquire({.ttl = 10s, .wait = 20s})));
  }
  for (const auto& member : members) {
    member->restart();
    std::this_thread::sleep_for(2s);
  }
  std::this_thread::sleep_for(12s);
  const auto lost = std::ranges::count_if(leases, [](const Lease& each) { return !each.valid(); });
  print_row("of 100 leases lost in a rolling restart of five members", {static_cast<double>(lost)},
            "");
  bar_at_most("redlock.rolling_restart_lost", static_cast<double>(lost), 0);
}

}  // namespace
}  // namespace holdfast::bench

int main() {
  holdfast::bench::measure_pauses();  // forks, and so comes before there is a thread
  holdfast::bench::measure_rolling_restart();
}
