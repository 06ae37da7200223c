// SPDX-License-Identifier: Apache-2.0
//
// redlock: over five servers, against the Redis store on one of them and against redlock-js. Six
// processes share the machine's cores, so nothing is pinned.
#include <holdfast/holdfast.hpp>

#include "runtime/spawn.hpp"
#include "support/async_pair.hpp"
#include "support/bars.hpp"
#include "support/processes.hpp"
#include "support/redis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <functional>
#include <semaphore>
#include <thread>

namespace holdfast::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t repeats = 5;
constexpr std::size_t names = 64;
constexpr std::size_t warm_up = 300;
constexpr std::size_t pairs_each = 3000;
constexpr std::size_t in_flight = 64;
constexpr auto warm_up_time = 500ms;
constexpr auto window = 2000ms;

using Samples = std::vector<double>;
using Servers = std::array<RedisServer, 5>;

std::string url_of(const Servers& servers, std::string_view options) {
  std::string members;
  for (const auto& server : servers) {
    members += fmt::format("{}127.0.0.1:{}", members.empty() ? "" : ",", server.port());
  }
  // They were started a moment ago.
  return fmt::format("redlock://{}?grace=0s&{}", members, options);
}

Client open_or_give_up(const std::string& url) {
  auto client = open(url);
  if (!client) give_up(client.error().message);
  return std::move(*client);
}

struct Times {
  Samples p50;
  Samples p99;
};

// As if others had taken other locks on each of the servers: no two count alike, so that every
// grant needs the round in which they agree.
class OutOfStep {
 public:
  explicit OutOfStep(const Servers& servers) {
    for (const auto& server : servers) redis_.emplace_back(server);
  }
  void operator()() {
    for (std::size_t i = 0; i < redis_.size(); ++i) {
      redis_[i].call({"INCRBY", "hf:fence", std::to_string(10 * i + 1)});
    }
  }

 private:
  std::deque<RawRedis> redis_;
};

// One pair at a time, by a thread that waits for each.
void measure_pairs(const Client& client, Times& out, const std::function<void()>& before = {}) {
  std::vector<Mutex> mutexes;
  for (std::size_t i = 0; i < names; ++i) mutexes.push_back(client.mutex(order_name(i)));
  Samples samples;
  samples.reserve(pairs_each);
  for (std::size_t i = 0; i < warm_up + pairs_each; ++i) {
    if (before) before();
    const std::int64_t began = monotonic_ns();
    auto lease = mutexes[i % names].acquire({});
    if (!lease) give_up(lease.error().message);
    if (!lease->release()) give_up("release failed");
    const std::int64_t ended = monotonic_ns();
    if (i >= warm_up) samples.push_back(static_cast<double>(ended - began) / 1000);
  }
  out.p50.push_back(median(samples));
  out.p99.push_back(percentile(std::move(samples), 0.99));
}

double many_at_once(const Client& client) {
  Counters counters;
  std::counting_semaphore<in_flight> done(0);
  for (std::size_t i = 0; i < in_flight; ++i) {
    runtime::spawn(run_slot(client.mutex(order_name(i)), &counters), [&](bool) { done.release(); });
  }
  std::this_thread::sleep_for(warm_up_time);
  const std::uint64_t before = counters.pairs;
  const std::int64_t began = monotonic_ns();
  std::this_thread::sleep_for(window);
  const auto pairs = static_cast<double>(counters.pairs - before);
  const double seconds = static_cast<double>(monotonic_ns() - began) / 1e9;
  counters.stop = true;
  for (std::size_t i = 0; i < in_flight; ++i) done.acquire();
  return pairs / seconds;
}

double redlock_js(const Servers& servers) {
  std::vector<std::string> line = {"node", HOLDFAST_BENCH_FOLDER "/redlock_js/pairs.mjs",
                                   std::to_string(in_flight), std::to_string(warm_up_time.count()),
                                   std::to_string(window.count())};
  for (const auto& server : servers) line.push_back(std::to_string(server.port()));
  return std::strtod(output_of(line).c_str(), nullptr);
}

struct Outcome {
  Times single;
  Times all_up;
  Times fenced;
  Times fenced_out_of_step;
  Times plain_out_of_step;
  Times two_killed;
  Times two_stopped;
  Samples ours;
  Samples ours_fenced;
  Samples js;
};

// All of them in every repeat, so that a slow moment of the machine meets all alike.
void repeat(Servers& servers, Outcome& out) {
  {
    const Client one = open_or_give_up(servers[0].url());
    measure_pairs(one, out.single);
  }
  const Client plain = open_or_give_up(url_of(servers, "fence=off"));
  measure_pairs(plain, out.all_up);
  const Client fenced = open_or_give_up(url_of(servers, "fence=on"));
  measure_pairs(fenced, out.fenced);
  OutOfStep move_apart(servers);
  measure_pairs(fenced, out.fenced_out_of_step, [&] { move_apart(); });
  measure_pairs(plain, out.plain_out_of_step, [&] { move_apart(); });
  out.js.push_back(redlock_js(servers));
  out.ours.push_back(many_at_once(plain));
  out.ours_fenced.push_back(many_at_once(fenced));
  for (const auto i : {3, 4}) servers[i].stop();
  measure_pairs(plain, out.two_stopped);
  for (const auto i : {3, 4}) servers[i].cont();
  for (const auto i : {3, 4}) servers[i].kill();
  measure_pairs(plain, out.two_killed);
  for (const auto i : {3, 4}) servers[i].restart();
}

void report(const Outcome& out) {
  print_row("redis: one server, p50", out.single.p50, "us");
  print_row("redlock: five, fence=off, p50", out.all_up.p50, "us");
  print_row("redlock: five, fence=off, p99", out.all_up.p99, "us");
  print_row("redlock: five, fence=on, p50", out.fenced.p50, "us");
  print_row("redlock: fence=on, moved apart, p50", out.fenced_out_of_step.p50, "us");
  print_row("redlock: fence=off, moved apart, p50", out.plain_out_of_step.p50, "us");
  print_row("redlock: two of five killed, p50", out.two_killed.p50, "us");
  print_row("redlock: two of five killed, p99", out.two_killed.p99, "us");
  print_row("redlock: two of five stopped, p50", out.two_stopped.p50, "us");
  print_row("redlock: two of five stopped, p99", out.two_stopped.p99, "us");
  print_row("redlock-js: 64 at once", out.js, "pairs/s");
  print_row("redlock: 64 at once, fence=off", out.ours, "pairs/s");
  print_row("redlock: 64 at once, fence=on", out.ours_fenced, "pairs/s");
  const double all_up = median(out.all_up.p50);
  const double all_up_p99 = median(out.all_up.p99);
  bar_at_most("redlock.pair_vs_single", all_up / median(out.single.p50), 2.5);
  bar_at_most("redlock.two_killed_p50", median(out.two_killed.p50) / all_up, 1.2);
  bar_at_most("redlock.two_killed_p99", median(out.two_killed.p99) / all_up_p99, 2);
  bar_at_most("redlock.two_stopped_p50", median(out.two_stopped.p50) / all_up, 1.2);
  bar_at_most("redlock.two_stopped_p99", median(out.two_stopped.p99) / all_up_p99, 2);
  const double in_step = median(out.fenced.p50) / all_up;
  const double apart = median(out.fenced_out_of_step.p50) / median(out.plain_out_of_step.p50);
  bar_at_most("redlock.fences_on_vs_off", std::max(in_step, apart), 1.6);
  bar_at_least("redlock.inflight_vs_redlock_js", median(out.ours) / median(out.js), 3);
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  Servers servers;
  Outcome out;
  for (std::size_t i = 0; i < repeats; ++i) repeat(servers, out);
  report(out);
}
