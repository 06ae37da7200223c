// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/quorum/plan.hpp"
#include "simulation/run.hpp"

namespace holdfast::simulation::quorum {

// Odd seeds have three members, even ones five; each sixteenth has four.
Seed run_seed(std::uint64_t seed, history::Checker& unused);
Seed run_seed_with(Hole hole, std::uint64_t seed);

}  // namespace holdfast::simulation::quorum
