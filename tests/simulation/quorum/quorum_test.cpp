// SPDX-License-Identifier: Apache-2.0
#include "simulation/quiet.hpp"
#include "simulation/quorum/run.hpp"
#include "simulation/timeline.hpp"

#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace holdfast::simulation::quorum {
namespace {

using history::Rule;
using history::What;

constexpr std::uint64_t portions = 4;
constexpr std::uint64_t seeds_per_portion = 600;

Summary run_quorum_seeds(std::uint64_t first, std::uint64_t count) {
  return run_seeds(first, count, Stop::never, Report::nothing, run_seed);
}

std::string story_of(std::uint64_t seed) {
  std::string story;
  for (const auto& violation : run_seed_with(Hole::none, seed).violations) {
    story += "C" + std::to_string(static_cast<int>(violation.rule)) + ": " + violation.why + "\n";
  }
  return story + "make simulate-quorum SEED=" + std::to_string(seed);
}

class QuorumSimulation : public testing::TestWithParam<std::uint64_t> {
 public:
  void SetUp() override { keep_clients_quiet(); }
};

TEST_P(QuorumSimulation, breaks_no_promise) {
  const Summary sum = run_quorum_seeds(1 + GetParam() * seeds_per_portion, seeds_per_portion);
  EXPECT_EQ(sum.violations, 0U) << story_of(sum.first_bad_seed);
  EXPECT_EQ(sum.seeds, seeds_per_portion);
  EXPECT_GE(sum.grants, 25 * sum.seeds) << "a seed is worth what it tries";
  EXPECT_GE(sum.faults, 100 * sum.seeds);
  std::cout << sum.seeds << " seeds, " << sum.events << " events, " << sum.violations
            << " violations\n";
}

INSTANTIATE_TEST_SUITE_P(in_many_bad_days, QuorumSimulation,
                         testing::Range<std::uint64_t>(0, portions));

class QuorumSeeds : public testing::Test {
 public:
  void SetUp() override { keep_clients_quiet(); }
};

TEST_F(QuorumSeeds, give_the_same_trace_each_time) {
  const auto once = run_quorum_seeds(1, 50).hash;
  EXPECT_EQ(once, run_quorum_seeds(1, 50).hash);
  EXPECT_NE(once, run_quorum_seeds(2, 50).hash);
}

TEST_F(QuorumSeeds, that_once_found_a_mistake_find_none_today) {
  std::ifstream corpus(HOLDFAST_QUORUM_CORPUS);
  ASSERT_TRUE(corpus.is_open()) << HOLDFAST_QUORUM_CORPUS;
  std::size_t replayed = 0;
  for (std::string line; std::getline(corpus, line);) {
    std::uint64_t seed = 0;
    if (line.empty() || line.front() == '#' || !(std::istringstream(line) >> seed)) continue;
    EXPECT_EQ(run_quorum_seeds(seed, 1).violations, 0U) << line << "\n" << story_of(seed);
    ++replayed;
  }
  EXPECT_GT(replayed, 0U);
}

// A fault that never strikes proves nothing.
TEST_F(QuorumSeeds, meet_every_kind_of_fault) {
  std::array<std::uint64_t, 32> seen{};
  std::uint64_t crashes = 0;
  std::uint64_t steps_back = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    for (const auto& event : run_seed_with(Hole::none, seed).history.events) {
      ++seen.at(static_cast<std::size_t>(event.what));
      crashes += event.what == What::stopped && event.until == history::for_ever ? 1 : 0;
      steps_back += event.what == What::clock_stepped && event.number < 0 ? 1 : 0;
    }
  }
  const auto count = [&seen](What what) { return seen.at(static_cast<std::size_t>(what)); };
  for (const What what : {What::unreachable, What::stopped, What::data_lost, What::clock_stepped,
                          What::lost, What::renewed, What::failed}) {
    EXPECT_GT(count(what), 30U) << static_cast<int>(what);
  }
  EXPECT_GT(crashes, 30U);
  EXPECT_GT(count(What::stopped), crashes);
  EXPECT_GT(steps_back, 10U);
}

TEST_F(QuorumSeeds, have_a_timeline_that_names_the_members) {
  std::string text;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Seed result = run_seed_with(Hole::none, seed);
    text += timeline(result.history, result.violations);
  }
  EXPECT_THAT(text, testing::HasSubstr("HOLDS with fence"));
  EXPECT_THAT(text, testing::HasSubstr("member 3"));
  EXPECT_THAT(text, testing::HasSubstr("! unreachable for member 1 until"));
}

// What docs/stores/redlock.md says it does not promise. If these seeds showed nothing, the others
// would prove nothing.
class QuorumHoles : public testing::TestWithParam<Hole> {
 public:
  void SetUp() override { keep_clients_quiet(); }
};

TEST_P(QuorumHoles, are_seen) {
  constexpr std::uint64_t most_seeds = 2'000;
  std::uint64_t seed = 0;
  bool is_seen = false;
  while (!is_seen && ++seed < most_seeds) {
    for (const auto& violation : run_seed_with(GetParam(), seed).violations) {
      is_seen |= violation.rule == Rule::fences_grow || violation.rule == Rule::no_overlap;
    }
  }
  EXPECT_TRUE(is_seen);
  std::cout << "HOLE seen after " << seed << " seeds\n";
}

INSTANTIATE_TEST_SUITE_P(of_members_that_forget, QuorumHoles,
                         testing::Values(Hole::no_grace, Hole::majority_forgets));

}  // namespace
}  // namespace holdfast::simulation::quorum
