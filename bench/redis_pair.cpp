// SPDX-License-Identifier: Apache-2.0
//
// One uncontended pair at a time, against a bare hiredis loop that does SET NX PX and a
// compare-and-delete script. Client and server have a core each: where they run decides more than
// anything else. Both need two round trips.
#include <holdfast/holdfast.hpp>

#include "runtime/spawn.hpp"
#include "support/async_pair.hpp"
#include "support/bars.hpp"
#include "support/processes.hpp"
#include "support/redis.hpp"

namespace holdfast::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t repeats = 5;
constexpr std::size_t names = 64;
constexpr std::size_t warm_up = 500;
constexpr std::size_t pairs_each = 5000;

using Samples = std::vector<double>;

// Runs `pair(i)` and gives the median time of one, in microseconds.
template <typename Pair>
double p50_us(const Pair& pair) {
  Samples samples;
  samples.reserve(pairs_each);
  for (std::size_t i = 0; i < warm_up + pairs_each; ++i) {
    const std::int64_t began = monotonic_ns();
    pair(i % names);
    const std::int64_t ended = monotonic_ns();
    if (i >= warm_up) samples.push_back(static_cast<double>(ended - began) / 1000);
  }
  return median(std::move(samples));
}

double hiredis_us(RawRedis& redis, const std::vector<PairBytes>& pairs) {
  return p50_us([&](std::size_t name) {
    redis.send(pairs[name].acquire);
    expect_acquired(redis.receive());
    redis.send(pairs[name].release);
    expect_released(pairs[name], redis.receive());
  });
}

double blocking_us(std::vector<Mutex>& mutexes, AcquireOptions options) {
  return p50_us([&](std::size_t name) {
    auto lease = mutexes[name].acquire(options);
    if (!lease) give_up(lease.error().message);
    if (!lease->release()) give_up("release failed");
  });
}

// After the first pair all of it happens on Holdfast's own thread.
Task<double> measure_async(std::vector<Mutex> mutexes, AcquireOptions options) {
  Samples samples;
  samples.reserve(pairs_each);
  for (std::size_t i = 0; i < warm_up + pairs_each; ++i) {
    const std::int64_t began = monotonic_ns();
    auto pair = async_pair(mutexes[i % names], options);
    co_await std::move(pair);
    const std::int64_t ended = monotonic_ns();
    if (i >= warm_up) samples.push_back(static_cast<double>(ended - began) / 1000);
  }
  co_return median(std::move(samples));
}

double async_us(const std::vector<Mutex>& mutexes, AcquireOptions options) {
  return runtime::run_blocking(measure_async(mutexes, options));
}

struct Outcome {
  Samples hiredis;
  Samples async;
  Samples blocking;
  Samples async_waiting;
  Samples blocking_waiting;
};

void report(const Outcome& out) {
  print_row("hiredis: SET NX PX, EVALSHA; p50", out.hiredis, "us");
  print_row("redis: async_acquire and release, p50", out.async, "us");
  print_row("redis: blocking acquire and release, p50", out.blocking, "us");
  print_row("redis: async, ready to wait 5 s, p50", out.async_waiting, "us");
  print_row("redis: blocking, ready to wait 5 s, p50", out.blocking_waiting, "us");
  const double floor = median(out.hiredis);
  bar_at_most("redis.async_pair_vs_hiredis", median(out.async) / floor, 1.2);
  bar_at_most("redis.blocking_pair_vs_hiredis", median(out.blocking) / floor, 1.5);
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast;
  using namespace holdfast::bench;
  const PinnedRedis server;
  RawRedis redis(*server);
  const auto pairs = bare_pairs(redis, names);
  const auto client = open(server->url());
  if (!client) give_up(client.error().message);
  std::vector<Mutex> mutexes;
  for (std::size_t i = 0; i < names; ++i) mutexes.push_back(client->mutex(order_name(i)));

  const AcquireOptions waiting{.wait = 5s};
  Outcome out;
  for (std::size_t i = 0; i < repeats; ++i) {
    out.hiredis.push_back(hiredis_us(redis, pairs));
    out.async.push_back(async_us(mutexes, {}));
    out.blocking.push_back(blocking_us(mutexes, {}));
    out.async_waiting.push_back(async_us(mutexes, waiting));
    out.blocking_waiting.push_back(blocking_us(mutexes, waiting));
  }
  report(out);
}
