// SPDX-License-Identifier: Apache-2.0
//
// chaos: real stores of every kind, several processes that use them, and everything that can go
// wrong with both, at random and in rounds. Each round has a store and a seed of its own, and its
// history is checked.
#include "chaos/round.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>

namespace {

using holdfast::faults::Tally;
using Clock = std::chrono::steady_clock;

constexpr int bad_input = 64;
constexpr const char* help =
    "usage: chaos [--seconds N] [--seed N] [--store redis|redlock|file|http]\n"
    "\n"
    "Rounds of some seconds, as many as begin within N seconds (10), but one of each kind of "
    "store\n"
    "at least; --store leaves out the others. --seed N begins with that one. A line for each\n"
    "minute, and a summary. A round that breaks a promise prints it with its seed, and the file "
    "of\n"
    "its history for tools/check_history; then the exit code is 1.\n";

struct Options {
  std::uint64_t seconds = 10;
  std::uint64_t seed = std::random_device{}() % 1'000'000;
  std::vector<std::string_view> stores = holdfast::faults::store_kinds();
};

std::optional<std::uint64_t> number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return {};
  return std::strtoull(text.c_str(), nullptr, 10);
}

bool read_option(Options& options, std::string_view option, const char* value) {
  if (value == nullptr) return false;
  if (option == "--store") {
    const bool is_known =
        std::ranges::find(options.stores, std::string_view(value)) != options.stores.end();
    options.stores = {value};
    return is_known;
  }
  const auto read = number(value);
  if (!read || (option != "--seconds" && option != "--seed")) return false;
  (option == "--seconds" ? options.seconds : options.seed) = *read;
  return true;
}

void print(std::string_view when, const Tally& tally) {
  fmt::print("{}: {} rounds, {} failed, {} faults, {} operations, {} losses, {} violations\n", when,
             tally.rounds, tally.failed, tally.fault_count(), tally.operations, tally.losses,
             tally.violations);
  std::fflush(stdout);
}

Tally run(const Options& options) {
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::seconds(options.seconds);
  Tally all;
  std::uint64_t minutes = 0;
  while (all.rounds < options.stores.size() || Clock::now() < end) {
    const auto store = options.stores[all.rounds % options.stores.size()];
    Tally round = holdfast::faults::run_round_apart(store, options.seed + all.rounds);
    // What went wrong is counted for each kind of store.
    std::map<std::string, std::uint64_t> faults;
    for (const auto& [kind, count] : round.faults)
      faults[fmt::format("{}: {}", store, kind)] = count;
    round.faults = std::move(faults);
    all += round;
    const auto passed = std::chrono::duration_cast<std::chrono::minutes>(Clock::now() - begin);
    if (static_cast<std::uint64_t>(passed.count()) == minutes) continue;
    minutes = static_cast<std::uint64_t>(passed.count());
    print(fmt::format("minute {}", minutes), all);
  }
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    const std::string_view option = arguments[i];
    if (option == "--help" || option == "-h") {
      fmt::print("{}", help);
      return 0;
    }
    if (!read_option(options, option, i + 1 < count ? arguments[i + 1] : nullptr)) {
      fmt::print(stderr, "chaos: {} is not understood; see --help\n", option);
      return bad_input;
    }
  }
  const Tally all = run(options);
  for (const auto& [kind, times] : all.faults) fmt::print("{:>8} {}\n", times, kind);
  print("in all", all);
  return all.failed == 0 ? 0 : 1;
}
