// SPDX-License-Identifier: Apache-2.0
//
// What a lock costs the server: the time that Redis itself counts for an uncontended pair, against
// the least that can be called a fenced lock, and the memory that a held lock takes.
#include <holdfast/holdfast.hpp>

#include "support/bars.hpp"
#include "support/redis.hpp"

#include <fmt/format.h>

namespace holdfast::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t repeats = 5;
constexpr std::size_t names = 500;
constexpr std::size_t rounds = 60;
constexpr std::size_t held_locks = 10'000;

// All names are acquired in one go, then released in one go.
void run_round(RawRedis& redis, const std::vector<PairBytes>& pairs) {
  for (const PairBytes& pair : pairs) redis.send(pair.acquire);
  for (std::size_t i = 0; i < pairs.size(); ++i) expect_acquired(redis.receive());
  for (const PairBytes& pair : pairs) redis.send(pair.release);
  for (const PairBytes& pair : pairs) expect_released(pair, redis.receive());
}

double pair_us(RawRedis& redis, const std::vector<PairBytes>& pairs) {
  run_round(redis, pairs);
  redis.text({"CONFIG", "RESETSTAT"});
  for (std::size_t i = 0; i < rounds; ++i) run_round(redis, pairs);
  const CommandStats evalsha = command_stats(redis)["evalsha"];
  if (evalsha.calls != 2.0 * rounds * names) give_up("somebody else uses the server");
  return evalsha.usec / evalsha.calls * 2;
}

double compare_time(RawRedis& redis) {
  const auto ours = holdfast_pairs(redis, names);
  const auto minimal = minimal_pairs(redis, names);
  std::vector<double> ours_us;
  std::vector<double> minimal_us;
  for (std::size_t i = 0; i < repeats; ++i) {
    minimal_us.push_back(pair_us(redis, minimal));
    ours_us.push_back(pair_us(redis, ours));
  }
  print_row("EVALSHA of a minimal pair: SET NX PX, INCR; GET, DEL", minimal_us, "us");
  print_row("EVALSHA of an uncontended fenced pair", ours_us, "us");
  return median(ours_us) / median(minimal_us);
}

// The texts alone: no lengths, no separators.
double bytes_said(const Lease& lease, const Metadata& metadata) {
  std::size_t bytes = lease.name().str().size() + lease.owner().view().size();
  bytes += metadata.source.size() + metadata.note.size() + metadata.value.size();
  if (const auto& process = metadata.process) {
    bytes += process->host.size() + process->program.size() + std::to_string(process->pid).size();
  }
  return static_cast<double>(bytes);
}

Metadata metadata_of(const Client& client, const std::string& name) {
  const auto lock = client.inspect(name);
  if (!lock) give_up(lock.error().message);
  if (lock->holders.size() != 1) give_up("a lock that we hold is not held");
  const auto& metadata = lock->holders.front().metadata;
  return metadata ? *metadata : Metadata{};
}

double bytes_per_lock(const Client& client, RawRedis& redis, std::size_t repeat) {
  const double before = info_number(redis, "memory", "used_memory");
  std::vector<Lease> leases;
  for (std::size_t i = 0; i < held_locks; ++i) {
    auto lease = client.mutex(order_name(repeat * held_locks + i)).acquire({.ttl = 10min});
    if (!lease) give_up(lease.error().message);
    leases.push_back(std::move(*lease));
  }
  const double grown = info_number(redis, "memory", "used_memory") - before;
  const Metadata metadata = metadata_of(client, leases.front().name().str());
  double said = 0;
  for (const Lease& lease : leases) said += bytes_said(lease, metadata);
  for (Lease& lease : leases) {
    if (!lease.release()) give_up("release failed");
  }
  print_note(fmt::format("{} bytes for each of {} held locks, {} of them name, owner and metadata",
                         readable(grown / held_locks), held_locks, readable(said / held_locks)));
  return (grown - said) / held_locks;
}

double measure_memory(const std::string& url, RawRedis& redis) {
  const auto client = open(url);
  if (!client) give_up(client.error().message);
  std::vector<double> bytes;
  for (std::size_t i = 0; i < repeats; ++i) {
    redis.text({"FLUSHALL"});
    bytes.push_back(bytes_per_lock(*client, redis, i));
  }
  print_row("memory of a held mutex beyond what it says", bytes, "bytes");
  return median(bytes);
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  const PinnedRedis server;
  RawRedis redis(*server);
  const double cost = compare_time(redis);
  const double memory = measure_memory(server->url(), redis);
  bar_at_most("redis.server_cost_vs_minimal", cost, 1.4);
  bar_at_most("redis.memory_bytes_per_lock", memory, 300);
}
