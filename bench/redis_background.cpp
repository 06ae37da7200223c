// SPDX-License-Identifier: Apache-2.0
//
// What a client and its server do when nothing happens: a thousand waiters asleep on one lock, and
// ten thousand leases that are only renewed.
#include <holdfast/holdfast.hpp>

#include "runtime/spawn.hpp"
#include "support/bars.hpp"
#include "support/redis.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <semaphore>
#include <stop_token>
#include <thread>

namespace holdfast::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t windows = 3;
constexpr std::ptrdiff_t waiter_count = 1000;
constexpr auto settle = 5s;
constexpr auto waiting_window = 10s;
constexpr std::size_t lease_count = 10'000;
constexpr Duration ttl = 30s;
constexpr Duration renew_every = ttl / 3;

struct Used {
  std::vector<double> client;
  std::vector<double> server;
  std::vector<double> together;
};

// Per cent of one core.
Used watch(const RedisServer& server, std::chrono::microseconds window) {
  Used used;
  for (std::size_t i = 0; i < windows; ++i) {
    const CpuShares cpu(getpid(), server.pid());
    std::this_thread::sleep_for(window);
    const auto shares = cpu.so_far();
    used.client.push_back(100 * shares.client);
    used.server.push_back(100 * shares.server);
    used.together.push_back(100 * (shares.client + shares.server));
  }
  return used;
}

void print_used(const char* label, const Used& used) {
  print_row(label, used.together, "%",
            fmt::format("client {}, server {}", readable(median(used.client)),
                        readable(median(used.server))));
}

std::size_t queued(const Client& client, const char* name) {
  const auto lock = client.inspect(name);
  if (!lock) give_up(lock.error().message);
  return lock->waiters.size();
}

void expect_all_queued(const Client& client, const char* name) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (queued(client, name) == waiter_count) return;
    std::this_thread::sleep_for(100ms);
  }
  give_up("some waiters are not in the queue");
}

void print_scripts(RawRedis& redis, double seconds) {
  const CommandStats evalsha = command_stats(redis)["evalsha"];
  print_note(fmt::format("{} scripts per s, {} us each", readable(evalsha.calls / seconds),
                         readable(evalsha.usec / std::max(1.0, evalsha.calls))));
}

double sleeping_waiters(const Client& client, const RedisServer& server, RawRedis& redis) {
  auto holder = client.mutex("popular").acquire({.ttl = ttl});
  if (!holder) give_up(holder.error().message);
  std::stop_source stop;
  std::counting_semaphore<waiter_count> ended(0);
  for (std::ptrdiff_t i = 0; i < waiter_count; ++i) {
    auto waiting =
        client.mutex("popular").async_acquire({.ttl = ttl, .wait = 10min}, stop.get_token());
    runtime::spawn(std::move(waiting), [&](Result<Lease>&& lease) {
      if (lease || lease.error().code != Errc::cancelled) give_up("a waiter did not wait");
      ended.release();
    });
  }
  expect_all_queued(client, "popular");
  std::this_thread::sleep_for(settle);
  redis.text({"CONFIG", "RESETSTAT"});
  const Used used = watch(server, waiting_window);
  print_used("1,000 waiters asleep: CPU of one core", used);
  print_scripts(redis, std::chrono::duration<double>(windows * waiting_window).count());
  expect_all_queued(client, "popular");
  stop.request_stop();
  for (std::ptrdiff_t i = 0; i < waiter_count; ++i) ended.acquire();
  return median(used.together);
}

// Every lease is renewed once in a window; the first begins half-way between two renewals.
double renewed_leases(const Client& client, const RedisServer& server, RawRedis& redis) {
  std::vector<Lease> leases;
  leases.reserve(lease_count);
  for (std::size_t i = 0; i < lease_count; ++i) {
    auto lease = client.mutex(order_name(i)).acquire({.ttl = ttl});
    if (!lease) give_up(lease.error().message);
    leases.push_back(std::move(*lease));
  }
  std::this_thread::sleep_for(renew_every / 2);
  redis.text({"CONFIG", "RESETSTAT"});
  const Used used = watch(server, renew_every);
  const double renewals = command_stats(redis)["evalsha"].calls;
  if (renewals < 0.99 * windows * lease_count) give_up("not every lease was renewed");
  for (const Lease& lease : leases) {
    if (!lease.valid()) give_up("a lease was lost");
  }
  print_used("10,000 leases renewed, ttl 30 s: CPU of one core", used);
  print_scripts(redis, std::chrono::duration<double>(windows * renew_every).count());
  return median(used.together);
}

void measure_idle(const RedisServer& server) {
  print_used("nothing at all: CPU of one core", watch(server, 2s));
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  const PinnedRedis server;
  RawRedis redis(*server);
  const auto client = holdfast::open(server->url());
  if (!client) give_up(client.error().message);
  measure_idle(*server);
  const double waiters = sleeping_waiters(*client, *server, redis);
  const double renewals = renewed_leases(*client, *server, redis);
  bar_at_most("redis.sleeping_waiters_cpu_percent", waiters, 2);
  bar_at_most("redis.renewal_cpu_percent", renewals, 5);
}
