// SPDX-License-Identifier: Apache-2.0
//
// `memory:`, uncontended, one thread: through Store::apply, through the public API, and the floor:
// a bare sharded map that inserts and erases the same keys. Anything that calls itself a lock table
// has to do at least that.
#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "support/bars.hpp"
#include "support/direct.hpp"
#include "support/repeats.hpp"

#include <array>
#include <mutex>
#include <unordered_map>

namespace holdfast::bench {

namespace {

constexpr std::size_t name_count = 4096;

class BareTable {
 public:
  struct Value {
    std::uint64_t request;
    std::int64_t expires_us;
  };

  bool take(const std::string& name, Value value) {
    Shard& shard = shard_of(name);
    const std::lock_guard lock(shard.mutex);
    return shard.locks.try_emplace(name, value).second;
  }

  bool give_back(const std::string& name) {
    Shard& shard = shard_of(name);
    const std::lock_guard lock(shard.mutex);
    return shard.locks.erase(name) == 1;
  }

 private:
  struct alignas(64) Shard {
    std::mutex mutex;
    std::unordered_map<std::string, Value> locks;
  };

  Shard& shard_of(const std::string& name) {
    return shards_[std::hash<std::string>{}(name) >> 7 & (shards_.size() - 1)];
  }

  std::array<Shard, 64> shards_;
};

// Every contestant walks over `count` names in the same order; a count of 1 is one hot lock.
void floor_pairs(benchmark::State& state, const std::vector<Party>& parties, std::size_t count) {
  BareTable table;
  std::uint64_t request = 0;
  for (auto _ : state) {
    const std::string& name = parties[request++ % count].name.str();
    if (!table.take(name, {request, 0}) || !table.give_back(name)) state.SkipWithError("floor");
  }
  state.SetItemsProcessed(state.iterations());
}

void apply_pairs(benchmark::State& state, const std::vector<Party>& parties, std::size_t count) {
  const auto store = backends::memory::make_memory_store(runtime::shared_runtime());
  const auto metadata = shared_metadata();
  std::uint64_t request = 0;
  for (auto _ : state) {
    direct_pair(*store, parties[request % count], request, metadata);
    ++request;
  }
  state.SetItemsProcessed(state.iterations());
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
  state.SetItemsProcessed(state.iterations());
}

// With a fresh handle for each name, as a program that locks orders would.
void api_pairs_on_names(benchmark::State& state, const std::vector<Party>& parties) {
  const Client client = fresh_client();
  std::uint64_t request = 0;
  for (auto _ : state) {
    auto lease = client.mutex(parties[request++ % name_count].name.str()).acquire();
    if (!lease || !lease->release()) state.SkipWithError("acquire or release failed");
  }
  state.SetItemsProcessed(state.iterations());
}

void register_all(const std::vector<Party>& parties) {
  using benchmark::RegisterBenchmark;
  RegisterBenchmark("floor: bare map, one name", floor_pairs, parties, 1)->UseRealTime();
  RegisterBenchmark("floor: bare map, 4096 names", floor_pairs, parties, name_count)->UseRealTime();
  RegisterBenchmark("memory: apply, one name", apply_pairs, parties, 1)->UseRealTime();
  RegisterBenchmark("memory: apply, 4096 names", apply_pairs, parties, name_count)->UseRealTime();
  RegisterBenchmark("memory: API, one name", api_pairs)->UseRealTime();
  RegisterBenchmark("memory: API, 4096 names", api_pairs_on_names, parties)->UseRealTime();
}

}  // namespace

}  // namespace holdfast::bench

int main(int argc, char** argv) {
  using namespace holdfast::bench;
  register_all(make_parties(name_count));
  const auto run = RepeatedRun::of_all(argc, argv);
  // Of the two ways to choose names the one that looks worse counts.
  const double one = run.rate("memory: apply, one name");
  const double many = run.rate("memory: apply, 4096 names");
  bar_at_least("2.memory_apply_pairs_per_s", std::min(one, many), 3e6);
  bar_at_least("2.memory_vs_map_floor",
               std::min(one / run.rate("floor: bare map, one name"),
                        many / run.rate("floor: bare map, 4096 names")),
               0.25);
  bar_at_least("2.memory_api_pairs_per_s",
               std::min(run.rate("memory: API, one name"), run.rate("memory: API, 4096 names")),
               5e5);
}
