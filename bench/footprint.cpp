// SPDX-License-Identifier: Apache-2.0
//
// Memory: what a held lock of `memory:` takes, and whether taking and giving back leaves anything
// behind. Each repeat has a process of its own, so that none inherits a warm heap.
#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "runtime/random.hpp"
#include "runtime/spawn.hpp"
#include "support/bars.hpp"
#include "support/direct.hpp"
#include "support/processes.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>

namespace holdfast::bench {

namespace {

constexpr std::size_t repeats = 3;
constexpr std::size_t held_count = 1'000'000;
constexpr std::size_t warm_up_pairs = 1'000'000;
constexpr std::size_t pair_count = 10'000'000;
constexpr std::size_t name_count = 4096;

using Repeats = std::array<double, repeats>;

double resident_bytes() {
  std::FILE* statm = std::fopen("/proc/self/statm", "r");
  long pages = 0;
  const int read = statm ? std::fscanf(statm, "%*d %ld", &pages) : 0;
  if (statm) std::fclose(statm);
  if (read != 1) give_up("/proc/self/statm cannot be read");
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Names and owners are made on the way and not kept: what grows is the store alone.
double bytes_per_held_lock() {
  const auto store = backends::memory::make_memory_store(runtime::shared_runtime());
  const auto metadata = shared_metadata();
  const auto hold = [&](std::size_t number) {
    const Party party{*LockName::make(order_name(number)),
                      OwnerId::from_random(runtime::secure_random(), runtime::secure_random())};
    expect_granted(runtime::run_blocking(store->apply(acquire_request(party, number, metadata))));
  };
  hold(held_count);
  const double before = resident_bytes();
  for (std::size_t i = 0; i < held_count; ++i) hold(i);
  return (resident_bytes() - before) / static_cast<double>(held_count);
}

double growth_of_many_pairs_kb() {
  const auto client = open("memory:");
  if (!client) give_up(client.error().message);
  const auto run = [&](std::size_t pairs) {
    for (std::size_t i = 0; i < pairs; ++i) {
      auto lease = client->mutex(order_name(i % name_count)).acquire();
      if (!lease || !lease->release()) give_up("acquire or release failed");
    }
  };
  run(warm_up_pairs);
  const double before = resident_bytes();
  run(pair_count);
  return (resident_bytes() - before) / 1024;
}

// Sizes do not depend on the clock, so the repeats may run side by side.
std::vector<double> in_children(double (*measure)()) {
  const Shared<Repeats> results;
  Children children(repeats, [&](std::size_t i) { (*results)[i] = measure(); });
  children.wait();
  return {results->begin(), results->end()};
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  const auto bytes = in_children(bytes_per_held_lock);
  const auto growth_kb = in_children(growth_of_many_pairs_kb);
  print_row("memory: 1,000,000 held locks, each", bytes, "bytes");
  print_row("memory: growth by 10,000,000 pairs through the API", growth_kb, "KiB");
  bar_at_most("memory.bytes_per_lock", median(bytes), 400);
  bar_at_most("memory.rss_growth_10m_pairs_kb", median(growth_kb), 1024);
}
