// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "history/check.hpp"
#include "simulation/plan.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace holdfast::simulation {

// What one seed came to, or many of them together.
struct Summary {
  std::uint64_t seeds = 0;
  std::uint64_t events = 0;
  std::uint64_t grants = 0;
  std::uint64_t hand_overs = 0;
  std::uint64_t faults = 0;
  std::uint64_t violations = 0;
  std::array<std::uint64_t, 14> by_rule{};
  std::uint64_t hash = 0;
  std::uint64_t bad_seeds = 0;
  std::uint64_t first_bad_seed = 0;  // the smallest
  std::uint64_t crashed = 0;         // processes that came to no end

  Summary& operator+=(const Summary& other);
};

struct Seed {
  history::History history;
  std::vector<history::Violation> violations;
  Summary summary;
};

// Odd seeds have one server, even ones a primary with replicas.
Seed run_seed(std::uint64_t seed, history::Checker& checker);
Seed run_http_seed(std::uint64_t seed, history::Checker& checker);
Seed run_seed_with(StoreKind kind, std::uint64_t seed, history::Checker& checker);
// What follows from the history and the violations.
Summary summary_of(const Seed& result, std::uint64_t seed);

// A world has its own way to run a seed.
using RunSeed = Seed (*)(std::uint64_t seed, history::Checker& checker);

enum class Stop : std::uint8_t { never, at_the_first_bad_seed };
// What is said on standard error.
enum class Report : std::uint8_t { nothing, bad_seeds };

// Seeds first, first + 1, …
Summary run_seeds(std::uint64_t first, std::uint64_t count, Stop stop = Stop::never,
                  Report report = Report::nothing, RunSeed run = run_seed);

}  // namespace holdfast::simulation
