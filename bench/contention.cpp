// SPDX-License-Identifier: Apache-2.0
//
// A hundred processes want one `file:` lock for a millisecond each. Counted are hand-overs, that is
// acquisitions by another process than the last holder: a lock that always goes back to whoever
// just had it looks fast and serves nobody.
#include <holdfast/holdfast.hpp>

#include "support/bars.hpp"
#include "support/processes.hpp"
#include "support/temp_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

namespace holdfast::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t repeats = 3;
constexpr std::size_t workers = 100;
constexpr std::uint64_t enough = workers * 106;  // acquisitions of all together
constexpr auto hold = 1ms;

// `stop` apart, everything below `go` is written by the holder of the lock alone.
struct Table {
  std::atomic<std::uint32_t> ready;
  std::atomic<bool> go;
  std::atomic<bool> stop;
  std::atomic<std::uint64_t> total;
  std::array<std::atomic<std::uint32_t>, workers> acquired;
  std::atomic<std::uint64_t> hand_overs;
  std::atomic<std::int64_t> held_ns;
  std::atomic<std::uint64_t> last_fence;
  std::atomic<std::size_t> last_holder;
  std::atomic<bool> taken;
};

// What must be true while one holds the lock; a benchmark of a broken lock would prove nothing.
void check_alone(Table& table, const Lease& lease) {
  if (table.taken.exchange(true)) give_up("two processes hold the lock");
  if (table.last_fence.exchange(lease.fence()) >= lease.fence()) give_up("a fence went back");
}

void use(Table& table, std::size_t worker) {
  const std::int64_t since = monotonic_ns();
  std::this_thread::sleep_for(hold);
  table.held_ns += monotonic_ns() - since;
  if (table.last_holder.exchange(worker) != worker) table.hand_overs += 1;
  table.acquired[worker] += 1;
  if (table.total.fetch_add(1) + 1 == enough) table.stop = true;
}

void work(Table& table, std::size_t worker, const std::string& url) {
  const auto client = open(url);
  if (!client) give_up(client.error().message);
  Mutex mutex = client->mutex("contention");
  table.ready += 1;
  while (!table.go) std::this_thread::sleep_for(1ms);
  while (!table.stop) {
    auto lease = mutex.acquire({.ttl = 30s, .wait = 60s});
    if (!lease) give_up(lease.error().message);
    check_alone(table, *lease);
    if (!table.stop) use(table, worker);
    table.taken = false;
    if (!lease->release()) give_up("release failed");
  }
}

struct Outcome {
  std::vector<double> min_max;
  std::vector<double> least;
  std::vector<double> share;
  std::vector<double> per_second;
  std::vector<double> hold_us;
};

void one_repeat(Outcome& out) {
  const TempFolder temp;
  const std::string url = "file:" + temp.path();
  const Shared<Table> table;
  table->last_holder = workers;
  Children children(workers, [&](std::size_t worker) { work(*table, worker, url); });
  while (table->ready < workers) std::this_thread::sleep_for(1ms);
  const std::int64_t began = monotonic_ns();
  table->go = true;
  while (!table->stop) std::this_thread::sleep_for(1ms);
  const double seconds = static_cast<double>(monotonic_ns() - began) / 1e9;
  const auto hand_overs = static_cast<double>(table->hand_overs);
  const double held_seconds = static_cast<double>(table->held_ns) / 1e9;
  children.wait();

  const auto [least, most] =
      std::minmax_element(table->acquired.begin(), table->acquired.end(),
                          [](const auto& a, const auto& b) { return a.load() < b.load(); });
  const double mean_hold = held_seconds / static_cast<double>(table->total);
  out.min_max.push_back(static_cast<double>(*least) / static_cast<double>(*most));
  out.least.push_back(static_cast<double>(*least));
  out.share.push_back(hand_overs / seconds * mean_hold);
  out.per_second.push_back(hand_overs / seconds);
  out.hold_us.push_back(mean_hold * 1e6);
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  Outcome outcome;
  for (std::size_t i = 0; i < repeats; ++i) one_repeat(outcome);
  print_row("file: 100 processes, hand-overs", outcome.per_second, "per s");
  print_row("file: 100 processes, mean measured hold", outcome.hold_us, "us");
  print_row("file: 100 processes, fewest acquisitions of one", outcome.least, "");
  const bool enough_each = *std::min_element(outcome.least.begin(), outcome.least.end()) >= 100;
  if (!enough_each) print_note("some process had fewer than 100 acquisitions: fairness is short");
  bar_at_least("file.fairness_min_max", enough_each ? median(outcome.min_max) : 0, 0.95);
  bar_at_least("file.contention_handover_share", median(outcome.share), 0.8);
}
