// SPDX-License-Identifier: Apache-2.0
#include "simulation/quiet.hpp"
#include "simulation/run.hpp"
#include "simulation/timeline.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

namespace holdfast::simulation {
namespace {

using history::What;

constexpr std::uint64_t portions = 10;
constexpr std::uint64_t seeds_per_portion = 5'000;

std::string story_of(std::uint64_t seed) {
  history::Checker checker;
  std::string story;
  for (const auto& violation : run_seed(seed, checker).violations) {
    story += "C" + std::to_string(static_cast<int>(violation.rule)) + ": " + violation.why + "\n";
  }
  return story + "make simulate SEED=" + std::to_string(seed);
}

class Simulation : public testing::TestWithParam<std::uint64_t> {
 public:
  void SetUp() override { keep_clients_quiet(); }
};

TEST_P(Simulation, breaks_no_promise) {
  const Summary sum = run_seeds(1 + GetParam() * seeds_per_portion, seeds_per_portion);
  EXPECT_EQ(sum.violations, 0U) << story_of(sum.first_bad_seed);
  EXPECT_EQ(sum.seeds, seeds_per_portion);
  EXPECT_GE(sum.grants, 100 * sum.seeds) << "a seed is worth what it tries";
  EXPECT_GE(sum.hand_overs, 20 * sum.seeds);
  EXPECT_GE(sum.faults, 10 * sum.seeds);
  std::cout << sum.seeds << " seeds, " << sum.events << " events, " << sum.violations
            << " violations\n";
}

INSTANTIATE_TEST_SUITE_P(in_fifty_thousand_bad_days, Simulation,
                         testing::Range<std::uint64_t>(0, portions));

class Seeds : public testing::Test {
 public:
  void SetUp() override { keep_clients_quiet(); }
};

TEST_F(Seeds, give_the_same_trace_each_time) {
  for (std::uint64_t first = 1; first < 200; first += 50) {
    const auto once = run_seeds(first, 50).hash;
    EXPECT_EQ(once, run_seeds(first, 50).hash);
    EXPECT_NE(once, run_seeds(first + 1, 50).hash);
  }
}

// They were found with one server, before there were others; with replicas they are other days.
TEST_F(Seeds, that_once_found_a_mistake_find_none_today) {
  history::Checker checker;
  std::ifstream corpus(HOLDFAST_SIMULATION_CORPUS);
  ASSERT_TRUE(corpus.is_open()) << HOLDFAST_SIMULATION_CORPUS;
  std::size_t replayed = 0;
  for (std::string line; std::getline(corpus, line);) {
    std::uint64_t seed = 0;
    if (line.empty() || line.front() == '#' || !(std::istringstream(line) >> seed)) continue;
    for (const StoreKind kind : {StoreKind::one_server, StoreKind::replicated}) {
      const Seed result = run_seed_with(kind, seed, checker);
      EXPECT_TRUE(result.violations.empty()) << line << "\n" << result.violations.front().why;
    }
    ++replayed;
  }
  EXPECT_GT(replayed, 0U);
}

// A fault that never strikes proves nothing.
TEST_F(Seeds, meet_every_kind_of_fault) {
  history::Checker checker;
  std::array<std::uint64_t, 32> seen{};
  std::uint64_t crashes = 0;
  std::uint64_t steps_back = 0;
  std::uint64_t steps_ahead = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    for (const auto& event : run_seed(seed, checker).history.events) {
      ++seen.at(static_cast<std::size_t>(event.what));
      crashes += event.what == What::stopped && event.until == history::for_ever ? 1 : 0;
      steps_back += event.what == What::clock_stepped && event.number < 0 ? 1 : 0;
      steps_ahead += event.what == What::clock_stepped && event.number > 0 ? 1 : 0;
    }
  }
  const auto count = [&seen](What what) { return seen.at(static_cast<std::size_t>(what)); };
  for (const What what : {What::unreachable, What::stopped, What::data_lost, What::forced,
                          What::lost, What::queued, What::renewed, What::failed}) {
    EXPECT_GT(count(what), 50U) << static_cast<int>(what);
  }
  EXPECT_GT(count(What::stopped), crashes);
  EXPECT_GT(crashes, 50U);
  EXPECT_GT(steps_back, 50U);
  EXPECT_GT(steps_ahead, 50U);
}

struct Seen {
  std::uint64_t losses = 0;
  std::uint64_t steps = 0;
  std::uint64_t outages = 0;
  std::uint64_t not_held = 0;  // of adopters that came too late
};

Seen look_at(const history::History& history) {
  Seen seen;
  for (const auto& event : history.events) {
    seen.losses += event.what == What::data_lost ? 1 : 0;
    seen.steps += event.what == What::clock_stepped ? 1 : 0;
    seen.outages += event.what == What::unreachable && event.process == 0 ? 1 : 0;
    const bool is_not_held = event.detail == history::Detail::not_held;
    seen.not_held += event.what == What::released && is_not_held ? 1 : 0;
  }
  return seen;
}

TEST_F(Seeds, of_a_primary_with_replicas_meet_failovers_losses_and_adopted_leases) {
  history::Checker checker;
  Seen sum;
  std::uint64_t outages_without_loss = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Seed result = run_seed_with(StoreKind::replicated, seed, checker);
    EXPECT_TRUE(result.violations.empty()) << "make simulate SEED=" << seed;
    const Seen seen = look_at(result.history);
    sum.losses += seen.losses;
    sum.steps += seen.steps;
    sum.not_held += seen.not_held;
    outages_without_loss += seen.outages > 0 && seen.losses == 0 && seen.steps == 0 ? 1 : 0;
  }
  EXPECT_GT(sum.losses, 50U);
  EXPECT_GT(sum.steps, 50U);
  EXPECT_GT(sum.not_held, 20U);
  // Where everything is promised as if nothing had happened.
  EXPECT_GT(outages_without_loss, 20U);
}

TEST_F(Seeds, are_odd_with_one_server_and_even_with_replicas) {
  history::Checker checker;
  const auto trace_of = [&](const Seed& seed) { return seed.summary.hash; };
  EXPECT_EQ(trace_of(run_seed(7, checker)),
            trace_of(run_seed_with(StoreKind::one_server, 7, checker)));
  EXPECT_EQ(trace_of(run_seed(8, checker)),
            trace_of(run_seed_with(StoreKind::replicated, 8, checker)));
}

TEST_F(Seeds, have_a_timeline_that_says_who_believed_what_and_when) {
  history::Checker checker;
  const Seed seed = run_seed(1, checker);
  const std::string text = timeline(seed.history, seed.violations);
  EXPECT_THAT(text, testing::HasSubstr("HOLDS with fence"));
  EXPECT_THAT(text, testing::HasSubstr("believes until"));
  EXPECT_THAT(text, testing::HasSubstr("lets go, believes no longer"));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\n')), seed.history.events.size());
}

}  // namespace
}  // namespace holdfast::simulation
