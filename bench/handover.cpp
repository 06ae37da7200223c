// SPDX-License-Identifier: Apache-2.0
//
// How long a waiter of another process has to wait once the holder lets go of a `file:` lock,
// against the cheapest way two processes can wake each other at all: a futex ping-pong. Where the
// two processes run decides more than anything else, so both are measured on two cores and on one.
#include <holdfast/holdfast.hpp>

#include "support/bars.hpp"
#include "support/futex.hpp"
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

constexpr std::size_t repeats = 5;
constexpr std::size_t rounds = 2000;
constexpr std::size_t warm_up = 200;
// A waiter that has joined the queue needs a moment to fall asleep.
constexpr auto settle = 150us;

struct Table {
  std::atomic<std::uint32_t> ready;
  std::atomic<std::uint32_t> turn;           // ping-pong: whose it is
  std::atomic<std::int64_t> began_ns;        // the release, or the wake, that is going on
  std::atomic<bool> begun;                   // player 0 has had the lock
  std::array<std::int64_t, rounds> samples;  // written by whoever was woken
};

struct Game {
  Table& table;
  std::uint32_t player;
};

// The holder is busy until it lets go, as a ping-pong is, but lets the waiter of the same core fall
// asleep.
void pause() {
  const std::int64_t until = monotonic_ns() + std::chrono::nanoseconds(settle).count();
  while (monotonic_ns() < until) std::this_thread::yield();
}

// Player 0 measures whole round trips, without a pause between them.
void ping_pong(const Game& game) {
  Table& table = game.table;
  const std::uint32_t me = game.player;
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
void spaced_wakes(const Game& game) {
  Table& table = game.table;
  const std::uint32_t me = game.player;
  for (std::size_t round = me; round < rounds; round += 2) {
    while (table.turn.load() != me) futex_wait(table.turn, 1 - me);
    table.samples[round] = monotonic_ns() - table.began_ns.load();
    pause();
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
void hand_overs(const Game& game, const std::string& url) {
  Table& table = game.table;
  const auto client = open(url);
  if (!client) give_up(client.error().message);
  Mutex mutex = client->mutex("handover");
  while (game.player == 1 && !table.begun.load()) std::this_thread::yield();
  for (std::size_t round = game.player; round < rounds; round += 2) {
    auto lease = mutex.acquire({.ttl = 30s, .wait = 10s});
    const std::int64_t held = monotonic_ns();
    if (!lease) give_up(lease.error().message);
    table.begun.store(true);
    table.samples[round] = held - table.began_ns.load();
    const bool is_last = round + 1 == rounds;
    if (!is_last) wait_until_queued(*client, "handover");
    pause();
    table.began_ns.store(monotonic_ns());
    if (!lease->release()) give_up("release failed");
  }
}

template <typename Play>
std::vector<double> play_us(const std::vector<int>& cores, const Play& game) {
  const Shared<Table> table;
  Children children(2, [&](std::size_t player) {
    pin_to_core(cores[player]);
    table->ready.fetch_add(1);
    while (table->ready.load() < 2) std::this_thread::yield();
    game(Game{*table, static_cast<std::uint32_t>(player)});
  });
  children.wait();
  std::vector<double> samples;
  for (std::size_t i = warm_up; i < rounds; ++i) {
    samples.push_back(static_cast<double>(table->samples[i]) / 1000);
  }
  return samples;
}

struct Medians {
  std::vector<double> round_trip;
  std::vector<double> spaced_wake;
  std::vector<double> hand_over;
  std::vector<double> hand_over_p99;
};

void one_repeat(const std::vector<int>& cores, const std::string& url, Medians& out) {
  out.round_trip.push_back(median(play_us(cores, ping_pong)));
  out.spaced_wake.push_back(median(play_us(cores, spaced_wakes)));
  const auto samples = play_us(cores, [&](const Game& game) { hand_overs(game, url); });
  out.hand_over.push_back(median(samples));
  out.hand_over_p99.push_back(percentile(samples, 0.99));
}

// How many round trips of the ping-pong a hand-over takes.
double report(const Medians& medians, const char* where) {
  const auto row = [&](const char* what, const std::vector<double>& values) {
    print_row(fmt::format("{}: {}", where, what), values, "us");
  };
  row("futex ping-pong, round trip p50", medians.round_trip);
  row("futex wake after a pause, one way p50", medians.spaced_wake);
  row("file: hand-over to another process, p50", medians.hand_over);
  row("file: hand-over to another process, p99", medians.hand_over_p99);
  const double hand_over = median(medians.hand_over);
  const double round_trip = median(medians.round_trip);
  print_note(fmt::format(
      "{}: a hand-over takes {:.2f} round trips, {:.2f} x one way of them, {:.2f} x the wake after "
      "the same pause",
      where, hand_over / round_trip, hand_over / (round_trip / 2),
      hand_over / median(medians.spaced_wake)));
  return hand_over / round_trip;
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  using namespace holdfast::bench;
  const TempFolder temp;
  const std::string url = "file:" + temp.make("store");
  const auto allowed = allowed_cores();
  Medians on_two;
  Medians on_one;
  for (std::size_t i = 0; i < repeats; ++i) {
    if (allowed.size() > 1) one_repeat({allowed[0], allowed[1]}, url, on_two);
    one_repeat({allowed[0], allowed[0]}, url, on_one);
  }
  double worst = report(on_one, "one core");
  if (allowed.size() > 1) worst = std::max(worst, report(on_two, "two cores"));
  bar_at_most("file.handover_vs_futex", worst, 5);
}
