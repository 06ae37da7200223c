// SPDX-License-Identifier: Apache-2.0
//
// `file:`, uncontended, against what it stands on and what it competes with: bare LMDB and SQLite.
// All of them work in the same file system, on the same names, with records of the same size.
#include <holdfast/holdfast.hpp>

#include "backends/file/file_store.hpp"
#include "client/core.hpp"
#include "support/bare_lmdb.hpp"
#include "support/bare_sqlite.hpp"
#include "support/bars.hpp"
#include "support/direct.hpp"
#include "support/repeats.hpp"
#include "support/temp_folder.hpp"

#include <fmt/format.h>

namespace holdfast::bench {

namespace {

constexpr std::size_t name_count = 4096;

// Everything that is measured, open at the same time.
struct Contestants {
  explicit Contestants(const TempFolder& temp)
      : parties(make_parties(name_count)),
        metadata(shared_metadata()),
        value(encoded_hold(parties.front(), metadata)),
        runtime(runtime::shared_runtime()),
        store(open(temp.make("file"), false)),
        durable(open(temp.make("durable"), true)),
        lmdb(temp.make("lmdb"), BareLmdb::Sync::never_mapped),
        lmdb_unmapped(temp.make("lmdb-unmapped"), BareLmdb::Sync::never),
        lmdb_durable(temp.make("lmdb-durable"), BareLmdb::Sync::always),
        sqlite(temp.make("sqlite")) {}

  std::shared_ptr<store::Store> open(const std::string& path, bool durable_one) const {
    auto opened = backends::file::open_file_store({.path = path, .durable = durable_one}, runtime);
    if (!opened) give_up(opened.error().message);
    return *opened;
  }
  Client client() const { return Client(client::make_core(store, runtime)); }

  std::vector<Party> parties;
  model::MetadataPtr metadata;
  std::string value;  // what the store keeps of one held lock
  std::shared_ptr<runtime::Runtime> runtime;
  std::shared_ptr<store::Store> store;
  std::shared_ptr<store::Store> durable;
  BareLmdb lmdb;
  BareLmdb lmdb_unmapped;
  BareLmdb lmdb_durable;
  BareSqlite sqlite;
};

void apply_pairs(benchmark::State& state, const Contestants* all, store::Store* store) {
  std::uint64_t request = static_cast<std::uint64_t>(state.thread_index()) << 32U;
  const auto first = static_cast<std::size_t>(state.thread_index()) * 97;
  for (auto _ : state) {
    direct_pair(*store, all->parties[(first + request) % name_count], request, all->metadata);
    ++request;
  }
}

void api_pairs(benchmark::State& state, const Contestants* all) {
  const Client client = all->client();
  std::size_t i = 0;
  for (auto _ : state) {
    auto lease = client.mutex(all->parties[i++ % name_count].name.str()).acquire();
    if (!lease || !lease->release()) state.SkipWithError("acquire or release failed");
  }
}

void lmdb_pairs(benchmark::State& state, const Contestants* all, const BareLmdb* lmdb) {
  std::size_t i = 0;
  for (auto _ : state) {
    const std::string& name = all->parties[i++ % name_count].name.str();
    lmdb->put(name, all->value);
    lmdb->del(name);
  }
}

void sqlite_pairs(benchmark::State& state, const Contestants* all, BareSqlite* sqlite) {
  std::size_t i = 0;
  for (auto _ : state) {
    const Party& party = all->parties[i++ % name_count];
    sqlite->take(party.name.str(), party.owner.str(), all->value);
    sqlite->give_back(party.name.str(), party.owner.str());
  }
}

void register_all(Contestants& all) {
  add("floor: LMDB as the store uses it", lmdb_pairs, &all, &all.lmdb);
  add("floor: LMDB NOSYNC alone", lmdb_pairs, &all, &all.lmdb_unmapped);
  add("floor: LMDB with fsync", lmdb_pairs, &all, &all.lmdb_durable);
  add("rival: SQLite", sqlite_pairs, &all, &all.sqlite);
  add("file: apply", apply_pairs, &all, all.store.get());
  add("file: API", api_pairs, &all);
  add("file: durable, 1 thread", apply_pairs, &all, all.durable.get());
  add("file: durable, 16 threads", apply_pairs, &all, all.durable.get())->Threads(16);
}

}  // namespace

}  // namespace holdfast::bench

int main(int argc, char** argv) {
  using namespace holdfast::bench;
  const TempFolder temp;
  Contestants all(temp);
  print_note(fmt::format("a record has {} bytes; folder {}", all.value.size(), temp.path()));
  register_all(all);
  const auto run = RepeatedRun::of_all(argc, argv);
  if (run.is_partial()) return 0;
  // Neither of these ever sleeps; SQLite does, when it synchronises its log.
  const auto against_lmdb = [&](const char* name, const char* floor) {
    return run.per_cpu_second(name) / run.per_cpu_second(floor);
  };
  const char* const floor = "floor: LMDB as the store uses it";
  print_note(fmt::format("API against LMDB: {:.2f} x; apply against LMDB NOSYNC alone: {:.2f} x",
                         against_lmdb("file: API", floor),
                         against_lmdb("file: apply", "floor: LMDB NOSYNC alone")));
  bar_at_least("file.vs_lmdb_floor", against_lmdb("file: apply", floor), 0.5);
  bar_at_least("file.vs_sqlite", run.per_second("file: apply") / run.per_second("rival: SQLite"),
               2);
}
