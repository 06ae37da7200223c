// SPDX-License-Identifier: Apache-2.0
//
// How long a waiter of another process has to wait once the holder lets go of a `file:` lock,
// against the cheapest way two processes can wake each other at all: a futex ping-pong.
#include <holdfast/holdfast.hpp>

#include "support/bars.hpp"
#include "support/futex.hpp"
#include "support/processes.hpp"
#include "support/temp_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <thread>

namespace holdfast::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t repeats = 5;
constexpr std::size_t rounds = 2000;
constexpr std::size_t warm_up = 200;
// A waiter that has joined the queue needs a moment to fall asleep.
constexpr std::int64_t settle_ns = 150'000;

struct Table {
  std::atomic<std::uint32_t> ready;
  std::atomic<std::uint32_t> turn;           // ping-pong: whose it is
  std::atomic<std::int64_t> began_ns;        // the release, or the wake, that is going on
  std::atomic<bool> begun;                   // player 0 has had the lock
  std::array<std::int64_t, rounds> samples;  // written by whoever was woken
};

std::vector<double> micros(const Table& table) {
  std::vector<double> samples;
  for (std::size_t i = warm_up; i < rounds; ++i) {
    samples.push_back(static_cast<double>(table.samples[i]) / 1000);
  }
  return samples;
}

void meet(Table& table) {
  table.ready.fetch_add(1);
  while (table.ready.load() < 2) std::this_thread::yield();
}

void spin_until(std::int64_t when_ns) {
  while (monotonic_ns() < when_ns) {
  }
}

// Player 0 measures whole round trips, without a pause between them.
void ping_pong(Table& table, std::size_t player) {
  const auto me = static_cast<std::uint32_t>(player);
  meet(table);
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::int64_t began = monotonic_ns();
    if (me == 0) {
      table.turn.store(1);
      futex_wake(table.turn);
    }
    while (table.turn.load() != me) futex_wait(table.turn, 1 - me);
    if (me == 1) {
      table.turn.store(0);
      futex_wake(table.turn);
    } else {
      table.samples[round] = monotonic_ns() - began;
    }
  }
}

// The same wake with as much time between two of them as the hand-overs have, one way.
void spaced_wakes(Table& table, std::size_t player) {
  const auto me = static_cast<std::uint32_t>(player);
  meet(table);
  for (std::size_t round = me; round < rounds; round += 2) {
    while (table.turn.load() != me) futex_wait(table.turn, 1 - me);
    const std::int64_t woken = monotonic_ns();
    table.samples[round] = woken - table.began_ns.load();
    spin_until(woken + settle_ns);
    table.began_ns.store(monotonic_ns());
    table.turn.store(1 - me);
    futex_wake(table.turn);
  }
}

void wait_until_queued(const Client& client, std::string_view name) {
  while (true) {
    const auto lock = client.inspect(name);
    if (!lock) give_up(lock.error().message);
    if (!lock->waiters.empty()) return;
    std::this_thread::yield();
  }
}

// Both acquire and release in turns; each release finds the other one in the queue, asleep.
void hand_overs(Table& table, std::size_t player, const std::string& url) {
  const auto client = open(url);
  if (!client) give_up(client.error().message);
  Mutex mutex = client->mutex("handover");
  while (player == 1 && !table.begun.load()) std::this_thread::yield();
  for (std::size_t round = player; round < rounds; round += 2) {
    auto lease = mutex.acquire({.ttl = 30s, .wait = 10s});
    const std::int64_t held = monotonic_ns();
    if (!lease) give_up(lease.error().message);
    table.begun.store(true);
    table.samples[round] = held - table.began_ns.load();
    const bool last = round + 1 == rounds;
    if (!last) wait_until_queued(*client, "handover");
    spin_until(monotonic_ns() + settle_ns);
    table.began_ns.store(monotonic_ns());
    if (!lease->release()) give_up("release failed");
  }
}

template <typename Play>
std::vector<double> play(const Play& game) {
  const Shared<Table> table;
  Children children(2, [&](std::size_t player) { game(*table, player); });
  children.wait();
  return micros(*table);
}

struct Medians {
  std::vector<double> round_trip;
  std::vector<double> spaced_wake;
  std::vector<double> hand_over;
  std::vector<double> hand_over_p99;
};

void one_repeat(const std::string& url, Medians& out) {
  out.round_trip.push_back(median(play(ping_pong)));
  out.spaced_wake.push_back(median(play(spaced_wakes)));
  const auto samples =
      play([&](Table& table, std::size_t player) { hand_overs(table, player, url); });
  out.hand_over.push_back(median(samples));
  out.hand_over_p99.push_back(percentile(samples, 0.99));
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  const TempFolder temp;
  const std::string url = "file:" + temp.make("store");
  Medians medians;
  for (std::size_t i = 0; i < repeats; ++i) one_repeat(url, medians);
  print_row("floor: futex ping-pong, round trip p50", medians.round_trip, "us");
  print_row("floor: futex wake after a pause, one way p50", medians.spaced_wake, "us");
  print_row("file: hand-over to another process, p50", medians.hand_over, "us");
  print_row("file: hand-over to another process, p99", medians.hand_over_p99, "us");
  const double hand_over = median(medians.hand_over);
  const double round_trip = median(medians.round_trip);
  print_note(
      fmt::format("against one way of the ping-pong: {:.2f} x; against a wake after the same "
                  "pause: {:.2f} x",
                  hand_over / (round_trip / 2), hand_over / median(medians.spaced_wake)));
  bar_at_most("2.file_handover_vs_futex", hand_over / round_trip, 5);
}
