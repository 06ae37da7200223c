// SPDX-License-Identifier: Apache-2.0
//
// Doing something once on Redis: how many round trips it takes, as the server counts them, and how
// long, against the same number of round trips of a script that does nothing.
#include <holdfast/holdfast.hpp>

#include "support/bars.hpp"
#include "support/processes.hpp"
#include "support/redis.hpp"

#include <fmt/format.h>

#include <string>

namespace holdfast::bench {

namespace {

constexpr std::size_t repeats = 5;
constexpr std::size_t runs = 2000;
const std::string answer = R"({"paid":true,"receipt":"4711-0815","amount":"100.00"})";

using Samples = std::vector<double>;

struct Measured {
  double us = 0;           // of one
  double round_trips = 0;  // of one
};

template <typename Work>
Measured measure(RawRedis& redis, std::size_t count, Work work) {
  const double before = command_stats(redis)["evalsha"].calls;
  const std::int64_t began = monotonic_ns();
  for (std::size_t i = 0; i < count; ++i) work(i);
  const auto us = static_cast<double>(monotonic_ns() - began) / 1e3;
  const double calls = command_stats(redis)["evalsha"].calls - before;
  const auto each = static_cast<double>(count);
  return {us / each, calls / each};
}

void once(const Client& client, const std::string& key, Ending wanted) {
  const auto told =
      client.idempotent(key, {.fingerprint = "100"}, [](const Run&) { return answer; });
  if (!told) give_up(told.error().message);
  if (told->ending != wanted) give_up(fmt::format("{} was {}", key, to_string(told->ending)));
}

void count_round_trips() {
  const PinnedRedis server;
  const auto client = open(server->url());
  if (!client) give_up(client.error().message);
  RawRedis redis(*server);
  const std::string script = redis.text({"SCRIPT", "LOAD", "return 1"});
  once(*client, "warm-up", Ending::ran);  // loads the script
  Samples empty_us;
  Samples fresh_us;
  Samples replay_us;
  Samples fresh_trips;
  Samples replay_trips;
  for (std::size_t i = 0; i < repeats; ++i) {
    const auto key = [i](std::size_t run) { return fmt::format("payment-{}-{}", i, run); };
    const auto empty =
        measure(redis, runs, [&](std::size_t) { redis.integer({"EVALSHA", script, "0"}); });
    const auto fresh =
        measure(redis, runs, [&](std::size_t run) { once(*client, key(run), Ending::ran); });
    const auto replay =
        measure(redis, runs, [&](std::size_t run) { once(*client, key(run), Ending::replayed); });
    empty_us.push_back(empty.us);
    fresh_us.push_back(fresh.us);
    replay_us.push_back(replay.us);
    fresh_trips.push_back(fresh.round_trips);
    replay_trips.push_back(replay.round_trips);
  }
  print_row("a script that does nothing", empty_us, "us");
  print_row("idempotent, fresh", fresh_us, "us",
            fmt::format("{:.2f} round trips", median(fresh_trips)));
  print_row("idempotent, replayed", replay_us, "us",
            fmt::format("{:.2f} round trips", median(replay_trips)));
  bar_at_most("recipes.idempotent_fresh_round_trips", median(fresh_trips), 2);
  bar_at_most("recipes.idempotent_replay_round_trips", median(replay_trips), 1);
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  holdfast::bench::count_round_trips();
  return 0;
}
