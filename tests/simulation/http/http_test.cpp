// SPDX-License-Identifier: Apache-2.0
#include "simulation/quiet.hpp"
#include "simulation/run.hpp"
#include "simulation/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

namespace holdfast::simulation {
namespace {

using history::What;

constexpr std::uint64_t http_portions = 4;
constexpr std::uint64_t http_seeds_per_portion = 400;

class HttpWorld : public testing::TestWithParam<std::uint64_t> {
 public:
  void SetUp() override { keep_clients_quiet(); }
};

TEST_P(HttpWorld, breaks_no_promise) {
  const Summary sum = run_seeds(1 + GetParam() * http_seeds_per_portion, http_seeds_per_portion,
                                Stop::never, Report::bad_seeds, run_http_seed);
  EXPECT_EQ(sum.violations, 0U) << "make simulate-http SEED=" << sum.first_bad_seed;
  EXPECT_GE(sum.grants, 80 * sum.seeds) << "a seed is worth what it tries";
  EXPECT_GE(sum.hand_overs, 15 * sum.seeds);
  EXPECT_GE(sum.faults, 10 * sum.seeds);
  std::cout << sum.seeds << " seeds, " << sum.events << " events, " << sum.violations
            << " violations\n";
}

INSTANTIATE_TEST_SUITE_P(on_bad_days, HttpWorld, testing::Range<std::uint64_t>(0, http_portions));

class HttpSeeds : public testing::Test {
 public:
  void SetUp() override { keep_clients_quiet(); }
};

TEST_F(HttpSeeds, give_the_same_trace_each_time) {
  const auto trace = [](std::uint64_t first) {
    return run_seeds(first, 30, Stop::never, Report::nothing, run_http_seed).hash;
  };
  EXPECT_EQ(trace(1), trace(1));
  EXPECT_NE(trace(1), trace(2));
}

TEST_F(HttpSeeds, meet_stalls_restarts_and_crowds_of_leases) {
  history::Checker checker;
  std::uint64_t delays = 0;
  std::uint64_t outages = 0;
  std::uint64_t losses_of_data = 0;
  std::uint64_t crowds = 0;
  std::size_t largest_crowd = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Seed result = run_http_seed(seed, checker);
    crowds += result.history.names.size() > 10 ? 1 : 0;
    largest_crowd = std::max(largest_crowd, result.history.names.size());
    for (const auto& event : result.history.events) {
      const bool is_of_the_store = event.what == What::unreachable && event.process == 0;
      delays += is_of_the_store && event.delays ? 1 : 0;
      outages += is_of_the_store && !event.delays ? 1 : 0;
      losses_of_data += event.what == What::data_lost ? 1 : 0;
    }
  }
  EXPECT_GT(delays, 50U);
  EXPECT_GT(outages, 50U);
  EXPECT_GT(losses_of_data, 20U);
  EXPECT_GE(crowds, 3U);
  EXPECT_GT(largest_crowd, 1000U);
}

}  // namespace
}  // namespace holdfast::simulation
