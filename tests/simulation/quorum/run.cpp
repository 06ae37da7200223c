// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/run.hpp"

#include "simulation/quorum/check.hpp"
#include "simulation/quorum/world.hpp"

#include <utility>

namespace holdfast::simulation::quorum {

Seed run_seed_with(Hole hole, std::uint64_t seed) {
  World world(seed, hole);
  world.run();
  const std::uint64_t hash = world.recorder().hash();
  Seed result;
  result.history = std::move(world.recorder().history);
  result.violations = check(result.history, world.promises());
  for (auto& more : world.violations) result.violations.push_back(std::move(more));
  result.summary = summary_of(result, seed);
  result.summary.hash = hash;
  result.summary.grants = world.recorder().grants;
  result.summary.faults = world.recorder().faults;
  return result;
}

Seed run_seed(std::uint64_t seed, history::Checker&) { return run_seed_with(Hole::none, seed); }

}  // namespace holdfast::simulation::quorum
