// SPDX-License-Identifier: Apache-2.0
//
// 256 pairs at a time on one connection: how much of what the server can do reaches the callers.
// The floor sends the same two scripts with the same arguments through hiredis, 256 outstanding,
// each release after the answer to its acquire. redis-benchmark cannot do that; a script that it
// can send shows that the floor is no slower than it is.
#include <holdfast/holdfast.hpp>

#include "runtime/spawn.hpp"
#include "support/async_pair.hpp"
#include "support/bars.hpp"
#include "support/processes.hpp"
#include "support/redis.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <semaphore>
#include <thread>

namespace holdfast::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t repeats = 5;
constexpr std::size_t in_flight = 256;
constexpr auto warm_up = 300ms;
constexpr auto window = 1500ms;

struct Measured {
  double pairs_per_s = 0;
  CpuShares::Shares cpu;
};

struct Outcome {
  std::vector<double> pairs_per_s;
  std::vector<double> client_cpu;
  std::vector<double> server_cpu;
  void add(const Measured& measured) {
    pairs_per_s.push_back(measured.pairs_per_s);
    client_cpu.push_back(measured.cpu.client);
    server_cpu.push_back(measured.cpu.server);
  }
};

// One step of every slot: all acquires, or all releases. Every answer sends the next command of its
// slot, so that the answers come in the order of the slots; hiredis writes what has gathered when
// it has read all there is.
class PipelinedFloor {
 public:
  PipelinedFloor(const RedisServer& server, RawRedis& redis)
      : server_(server), redis_(redis), pairs_(holdfast_pairs(redis, in_flight)) {}

  Measured run() {
    for (const PairBytes& pair : pairs_) redis_.send(pair.acquire);
    rounds_for(warm_up);
    const CpuShares cpu(getpid(), server_.pid());
    const std::size_t rounds = rounds_for(window);
    const auto shares = cpu.so_far();
    drain();
    return {static_cast<double>(rounds * in_flight) / shares.seconds, shares};
  }

 private:
  std::size_t rounds_for(std::chrono::nanoseconds time) {
    const std::int64_t until = monotonic_ns() + time.count();
    std::size_t rounds = 0;
    for (; monotonic_ns() < until; ++rounds) {
      for (const PairBytes& pair : pairs_) {
        expect_acquired(redis_.receive());
        redis_.send(pair.release);
      }
      for (const PairBytes& pair : pairs_) {
        expect_released(pair, redis_.receive());
        redis_.send(pair.acquire);
      }
    }
    return rounds;
  }

  void drain() {
    for (const PairBytes& pair : pairs_) {
      expect_acquired(redis_.receive());
      redis_.send(pair.release);
    }
    for (const PairBytes& pair : pairs_) expect_released(pair, redis_.receive());
  }

  const RedisServer& server_;
  RawRedis& redis_;
  const std::vector<PairBytes> pairs_;
};

// The release of a lock that nobody holds, without the NUL that no command line can have.
std::vector<std::string> futile_release() {
  const backends::redis::Scripts scripts({});
  const std::string& sha = scripts[backends::redis::Script::release].sha1;
  const std::string key = "hf:{nobody}";
  const std::string owner(49, '1');
  return {"EVALSHA", sha, "4", key, key + ":r", key + ":z", "hf:fence", owner, "48"};
}

constexpr std::size_t futile_count = 1000 * in_flight;

double futile_by_hiredis(RawRedis& redis) {
  const std::string command = resp(futile_release());
  const std::int64_t began = monotonic_ns();
  for (std::size_t i = 0; i < in_flight; ++i) redis.send(command);
  for (std::size_t i = 0; i < futile_count; ++i) {
    if (redis.receive()->type != REDIS_REPLY_INTEGER) give_up("a script failed");
    if (i + in_flight < futile_count) redis.send(command);
  }
  return futile_count / (static_cast<double>(monotonic_ns() - began) / 1e9);
}

double futile_by_redis_benchmark(const RedisServer& server) {
  std::vector<std::string> line = {"redis-benchmark", "-p", std::to_string(server.port())};
  for (const char* word : {"-c", "1", "-P", "256", "--csv", "-n"}) line.emplace_back(word);
  line.push_back(std::to_string(futile_count));
  const auto command = futile_release();
  line.insert(line.end(), command.begin(), command.end());
  // A heading, and a line that begins with the command and its rate.
  const std::string text = output_of(line);
  const std::size_t second = text.find('\n') + 1;
  const std::size_t rate = text.find("\",\"", second);
  if (second == 0 || rate == std::string::npos) give_up("redis-benchmark says: " + text);
  return std::strtod(text.c_str() + rate + 3, nullptr);
}

void compare_with_redis_benchmark(const RedisServer& server, RawRedis& redis) {
  std::vector<double> theirs;
  std::vector<double> floor;
  for (std::size_t i = 0; i < repeats; ++i) {
    theirs.push_back(futile_by_redis_benchmark(server));
    floor.push_back(futile_by_hiredis(redis));
  }
  print_row("redis-benchmark -P 256: a release of nothing", theirs, "per s");
  print_row("hiredis, 256 outstanding: a release of nothing", floor, "per s");
}

Measured run_ours(const Client& client, const RedisServer& server) {
  Counters counters;
  std::counting_semaphore<in_flight> done(0);
  for (std::size_t i = 0; i < in_flight; ++i) {
    runtime::spawn(run_slot(client.mutex(order_name(i)), &counters), [&](bool) { done.release(); });
  }
  std::this_thread::sleep_for(warm_up);
  const CpuShares cpu(getpid(), server.pid());
  const std::uint64_t before = counters.pairs;
  std::this_thread::sleep_for(window);
  const auto shares = cpu.so_far();
  const auto pairs = static_cast<double>(counters.pairs - before);
  counters.stop = true;
  for (std::size_t i = 0; i < in_flight; ++i) done.acquire();
  return {pairs / shares.seconds, shares};
}

void print_outcome(const char* label, const Outcome& out) {
  print_row(label, out.pairs_per_s, "pairs/s",
            fmt::format("client {:.0f} % of its core, server {:.0f} %",
                        100 * median(out.client_cpu), 100 * median(out.server_cpu)));
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast;
  using namespace holdfast::bench;
  const PinnedRedis server;
  RawRedis redis(*server);
  PipelinedFloor floor(*server, redis);
  compare_with_redis_benchmark(*server, redis);
  const auto client = open(server->url());
  if (!client) give_up(client.error().message);
  Outcome floors;
  Outcome ours;
  for (std::size_t i = 0; i < repeats; ++i) {
    floors.add(floor.run());
    ours.add(run_ours(*client, *server));
  }
  print_outcome("hiredis: the same scripts, 256 outstanding", floors);
  print_outcome("redis: 256 coroutines", ours);
  print_note(fmt::format("client CPU of a pair: hiredis {:.2f} us, redis: {:.2f} us",
                         1e6 * median(floors.client_cpu) / median(floors.pairs_per_s),
                         1e6 * median(ours.client_cpu) / median(ours.pairs_per_s)));
  bar_at_least("redis.inflight_vs_pipelined_floor",
               median(ours.pairs_per_s) / median(floors.pairs_per_s), 0.85);
  bar_at_least("redis.inflight_redis_cpu", median(ours.server_cpu), 0.95);
  bar_at_most("redis.inflight_client_cpu", median(ours.client_cpu), 0.25);
}
