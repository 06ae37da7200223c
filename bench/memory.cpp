// SPDX-License-Identifier: Apache-2.0
//
// `memory:`, uncontended, one thread: through Store::apply, through the public API, and the floor:
// a bare sharded map that inserts and erases the same keys. Anything that calls itself a lock table
// has to do at least that.
#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "support/bare_map.hpp"
#include "support/bars.hpp"
#include "support/direct.hpp"
#include "support/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::bench {

namespace {

constexpr std::size_t name_count = 4096;

// Every contestant walks over `count` names, a power of two, in the same order; 1 is one hot lock.
void floor_pairs(benchmark::State& state, const std::vector<Party>& parties, std::size_t count) {
  BareTable table;
  std::uint64_t request = 0;
  for (auto _ : state) {
    const std::string& name = parties[request++ & (count - 1)].name.str();
    if (!table.take(name, {request, 0}) || !table.give_back(name)) state.SkipWithError("floor");
  }
}

template <typename ReadClock>
void owned_floor_pairs(benchmark::State& state, const std::vector<Party>& parties,
                       ReadClock read_clock) {
  OwnedTable table;
  const std::string owner = parties.front().owner.str();
  std::size_t i = 0;
  for (auto _ : state) {
    const std::string& name = parties[i++ & (name_count - 1)].name.str();
    const auto now = read_clock();
    const bool took = table.take(name, owner, now, now + default_ttl);
    if (!took || !table.give_back(name, owner, read_clock())) state.SkipWithError("floor");
  }
}

void apply_pairs(benchmark::State& state, const std::vector<Party>& parties, std::size_t count) {
  const auto store = backends::memory::make_memory_store(runtime::shared_runtime());
  const auto metadata = shared_metadata();
  std::uint64_t request = 0;
  for (auto _ : state) {
    direct_pair(*store, parties[request & (count - 1)], request, metadata);
    ++request;
  }
}

Client fresh_client() {
  const auto runtime = runtime::shared_runtime();
  return Client(client::make_core(backends::memory::make_memory_store(runtime), runtime));
}

void api_pairs(benchmark::State& state) {
  const Client client = fresh_client();
  Mutex mutex = client.mutex(order_name(0));
  for (auto _ : state) {
    auto lease = mutex.acquire();
    if (!lease || !lease->release()) state.SkipWithError("acquire or release failed");
  }
}

// With a fresh handle for each name, as a program that locks orders would.
void api_pairs_on_names(benchmark::State& state, const std::vector<Party>& parties) {
  const Client client = fresh_client();
  std::uint64_t request = 0;
  for (auto _ : state) {
    auto lease = client.mutex(parties[request++ & (name_count - 1)].name.str()).acquire();
    if (!lease || !lease->release()) state.SkipWithError("acquire or release failed");
  }
}

void register_all(const std::vector<Party>& parties) {
  add("floor: bare map, one name", floor_pairs, parties, 1);
  add("floor: bare map, 4096 names", floor_pairs, parties, name_count);
  const auto no_clock = [] { return runtime::LocalTime(); };
  add("floor: map with owner, 4096 names", owned_floor_pairs<decltype(no_clock)>, parties,
      no_clock);
  const auto clock = [] { return runtime::LocalClock::now(); };
  add("floor: map with owner and clock, 4096 names", owned_floor_pairs<decltype(clock)>, parties,
      clock);
  add("memory: apply, one name", apply_pairs, parties, 1);
  add("memory: apply, 4096 names", apply_pairs, parties, name_count);
  add("memory: API, one name", api_pairs);
  add("memory: API, 4096 names", api_pairs_on_names, parties);
}

}  // namespace

}  // namespace holdfast::bench

int main(int argc, char** argv) {
  using namespace holdfast::bench;
  // Locks are for programs with threads. In one that has none, glibc leaves out the atomic
  // instructions of a mutex, and the floor would be the floor of another problem.
  const auto a_thread = holdfast::runtime::shared_runtime();
  register_all(make_parties(name_count));
  const auto run = RepeatedRun::of_all(argc, argv);
  if (run.is_partial()) return 0;
  const auto rate = [&](const char* name) { return run.per_cpu_second(name); };
  const double one = rate("memory: apply, one name");
  const double many = rate("memory: apply, 4096 names");
  print_note(
      fmt::format("apply against the map with owner: {:.2f} x, with owner and clock: {:.2f} x",
                  many / rate("floor: map with owner, 4096 names"),
                  many / rate("floor: map with owner and clock, 4096 names")));
  // Of the two ways to choose names the one that looks worse counts.
  bar_at_least("memory.apply_pairs_per_s", std::min(one, many), 3e6);
  bar_at_least(
      "memory.vs_map_floor",
      std::min(one / rate("floor: bare map, one name"), many / rate("floor: bare map, 4096 names")),
      0.25);
  bar_at_least("memory.api_pairs_per_s",
               std::min(rate("memory: API, one name"), rate("memory: API, 4096 names")), 5e5);
}
