// SPDX-License-Identifier: Apache-2.0
#include "history/jsonl.hpp"
#include "http_world.hpp"
#include "planted.hpp"
#include "simulation/arguments.hpp"
#include "simulation/crowd.hpp"
#include "simulation/quiet.hpp"
#include "simulation/quorum/run.hpp"
#include "simulation/timeline.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

namespace holdfast::simulation {
namespace {

constexpr int bad_arguments = 64;

void print_one(const Seed& seed, const Arguments& arguments) {
  if (arguments.json) {
    fmt::print("{}", history::to_jsonl(seed.history));
    return;
  }
  fmt::print("{}", timeline(seed.history, seed.violations));
  for (const auto& violation : seed.violations) {
    fmt::print("C{} BROKEN: {}\n", static_cast<int>(violation.rule), violation.why);
  }
}

void print_many(const Summary& sum, double seconds, const Arguments& arguments) {
  const auto seeds = static_cast<double>(sum.seeds);
  fmt::print("per seed: {:.1f} grants, {:.1f} hand-overs, {:.1f} faults, {:.0f} events\n",
             static_cast<double>(sum.grants) / seeds, static_cast<double>(sum.hand_overs) / seeds,
             static_cast<double>(sum.faults) / seeds, static_cast<double>(sum.events) / seeds);
  fmt::print("{:.0f} seeds/s in {} process{}, {:.1f} s\n", seeds / seconds, arguments.jobs,
             arguments.jobs == 1 ? "" : "es", seconds);
  if (sum.bad_seeds == 0) return;
  for (std::size_t rule = 1; rule < sum.by_rule.size(); ++rule) {
    if (sum.by_rule[rule] != 0) fmt::print("C{} broken {} times\n", rule, sum.by_rule[rule]);
  }
  fmt::print("{} bad seeds; the first: make {} SEED={}\n", sum.bad_seeds,
             arguments.quorum ? "simulate-quorum"
             : arguments.http ? "simulate-http"
                              : "simulate",
             sum.first_bad_seed);
}

int list_bugs() {
  for (const auto& bug : planted::bugs()) fmt::print("{:<44} {}\n", bug.name, bug.title);
  return 0;
}

int simulate(const Arguments& arguments) {
  if (!arguments.bug.empty()) {
    const auto bug = planted::find(arguments.bug);
    if (!bug) {
      fmt::print(stderr, "--bug: no such bug here: {}\n", arguments.bug);
      return bad_arguments;
    }
    planted::choose(bug);
  }
  if (arguments.http && !has_http_world) {
    fmt::print(stderr, "--http: simulate_planted has that world\n");
    return bad_arguments;
  }
  const RunSeed run = arguments.quorum ? quorum::run_seed
                      : arguments.http ? run_http_seed
                                       : run_seed;
  Summary sum;
  if (arguments.seeds == 1) {
    history::Checker checker;
    const Seed seed = run(arguments.seed, checker);
    print_one(seed, arguments);
    if (arguments.json) return seed.violations.empty() ? 0 : 1;
    sum = seed.summary;
  } else {
    const auto begin = std::chrono::steady_clock::now();
    sum = run_seeds_in_parallel(arguments.seed, arguments.seeds, arguments.jobs, run);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    print_many(sum, time.count(), arguments);
  }
  if (sum.crashed != 0) fmt::print("{} processes crashed\n", sum.crashed);
  fmt::print("trace {:016x}\n", sum.hash);
  fmt::print("{} seeds, {} events, {} violations\n", sum.seeds, sum.events, sum.violations);
  return sum.violations == 0 && sum.crashed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace holdfast::simulation

int main(int count, char** values) {
  using namespace holdfast;
  const auto arguments = simulation::parse_arguments(count, values);
  if (!arguments) {
    fmt::print(stderr, "{}\n\n{}", arguments.error(), simulation::usage);
    return simulation::bad_arguments;
  }
  if (arguments->help) {
    fmt::print("{}", simulation::usage);
    return 0;
  }
  if (arguments->list_bugs) return simulation::list_bugs();
  simulation::keep_clients_quiet();
  return simulation::simulate(*arguments);
}
