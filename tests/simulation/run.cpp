// SPDX-License-Identifier: Apache-2.0
#include "simulation/run.hpp"

#include "simulation/world.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace holdfast::simulation {

Summary& Summary::operator+=(const Summary& other) {
  if (other.bad_seeds != 0 && (bad_seeds == 0 || other.first_bad_seed < first_bad_seed)) {
    first_bad_seed = other.first_bad_seed;
  }
  bad_seeds += other.bad_seeds;
  crashed += other.crashed;
  seeds += other.seeds;
  events += other.events;
  grants += other.grants;
  hand_overs += other.hand_overs;
  faults += other.faults;
  violations += other.violations;
  for (std::size_t rule = 0; rule < by_rule.size(); ++rule) by_rule[rule] += other.by_rule[rule];
  hash += other.hash;
  return *this;
}

Summary summary_of(const Seed& result, std::uint64_t seed) {
  Summary sum{.seeds = 1,
              .events = result.history.events.size(),
              .violations = result.violations.size(),
              .bad_seeds = result.violations.empty() ? 0U : 1U,
              .first_bad_seed = seed};
  for (const auto& violation : result.violations) {
    ++sum.by_rule[static_cast<std::size_t>(violation.rule)];
  }
  return sum;
}

Seed run_seed(std::uint64_t seed, history::Checker& checker) {
  return run_seed_with(seed % 2 == 1 ? StoreKind::one_server : StoreKind::replicated, seed,
                       checker);
}

Seed run_http_seed(std::uint64_t seed, history::Checker& checker) {
  return run_seed_with(StoreKind::http, seed, checker);
}

Seed run_seed_with(StoreKind kind, std::uint64_t seed, history::Checker& checker) {
  World world(seed, kind);
  const bool ended = world.run();
  const std::uint64_t hash = world.recorder().hash();
  Seed result;
  result.history = std::move(world.recorder().history);
  result.violations = checker.check(result.history);
  if (!ended) {
    result.violations.push_back({.rule = history::Rule::renewals_end,
                                 .why = "a client went on for ever after everything was over"});
  }
  result.summary = summary_of(result, seed);
  result.summary.hash = hash;
  result.summary.grants = world.recorder().grants;
  result.summary.hand_overs = world.recorder().hand_overs;
  result.summary.faults = world.recorder().faults;
  return result;
}

Summary run_seeds(std::uint64_t first, std::uint64_t count, Stop stop, Report report, RunSeed run) {
  history::Checker checker;
  Summary sum;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Seed result = run(seed, checker);
    sum += result.summary;
    if (result.violations.empty()) continue;
    if (report == Report::bad_seeds) {
      const auto& first_one = result.violations.front();
      fmt::print(stderr, "seed {}: C{} {}\n", seed, static_cast<int>(first_one.rule),
                 first_one.why);
    }
    if (stop == Stop::at_the_first_bad_seed) break;
  }
  return sum;
}

}  // namespace holdfast::simulation
