// SPDX-License-Identifier: Apache-2.0
//
// Does one thing a given number of times, for bench/instructions, which runs it twice under
// callgrind and takes the difference:
//
//   bench_instructions pair URL COUNT        acquire and release of a free mutex, one by one
//   bench_instructions handover URL COUNT    two waiters that hand one mutex to each other
#include <holdfast/holdfast.hpp>

#include "runtime/spawn.hpp"
#include "support/async_pair.hpp"
#include "support/bars.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <semaphore>
#include <string_view>
#include <utility>

namespace holdfast::bench {
namespace {

constexpr std::string_view lock_name = "order:1234567";

void run_pairs(const Client& client, std::uint64_t count) {
  auto mutex = client.mutex(lock_name);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto lease = mutex.acquire();
    if (!lease) give_up(lease.error().message);
    const auto released = lease->release();
    if (!released || *released != Released::released) give_up("release failed");
  }
}

// Both players run on Holdfast's own thread. The one that releases goes on and queues again before
// the other one, whose turn it is, is resumed: so each of them gets the lock from the other.
Task<bool> play(Mutex mutex, int player, int* last_holder, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    auto waiting = mutex.async_acquire({.wait = std::chrono::minutes(10)});
    Result<Lease> lease = co_await std::move(waiting);
    if (!lease) give_up(lease.error().message);
    if (std::exchange(*last_holder, player) == player) give_up("a release handed over to nobody");
    auto releasing = async_release(*lease);
    const auto released = co_await std::move(releasing);
    if (!released || *released != Released::released) give_up("release failed");
  }
  co_return true;
}

void run_handovers(const Client& client, std::uint64_t count) {
  constexpr int players = 2;
  std::counting_semaphore<players> done(0);
  int last_holder = -1;
  auto opening = client.mutex(lock_name).acquire();
  if (!opening) give_up(opening.error().message);
  for (int player = 0; player < players; ++player) {
    runtime::spawn(play(client.mutex(lock_name), player, &last_holder, count / players),
                   [&done](bool) { done.release(); });
  }
  if (!opening->release()) give_up("release failed");
  for (int player = 0; player < players; ++player) done.acquire();
}

void run(std::string_view what, std::string_view url, std::string_view count) {
  std::uint64_t times = 0;
  const auto read = std::from_chars(count.data(), count.data() + count.size(), times);
  if (read.ec != std::errc() || times == 0) give_up("COUNT is a number above 0");
  const auto client = open(url);
  if (!client) give_up(client.error().message);
  if (what == "pair") return run_pairs(*client, times);
  if (what == "handover") return run_handovers(*client, times);
  give_up(fmt::format("there is no operation {}", what));
}

}  // namespace
}  // namespace holdfast::bench

int main(int count, char** words) {
  if (count != 4) holdfast::bench::give_up("usage: bench_instructions OPERATION URL COUNT");
  holdfast::bench::run(words[1], words[2], words[3]);
}
