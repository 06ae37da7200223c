// SPDX-License-Identifier: Apache-2.0
#include "simulation/once/world.hpp"
#include "simulation/quiet.hpp"

#include <gmock/gmock.h>

#include <iostream>

namespace holdfast::simulation::once {
namespace {

using testing::IsEmpty;

constexpr std::uint64_t portions = 2;
constexpr std::uint64_t seeds_per_portion = 2'500;
constexpr std::uint64_t seeds_with_a_weakness = 300;

class Once : public testing::TestWithParam<std::uint64_t> {
 public:
  void SetUp() override { keep_clients_quiet(); }
};

TEST_P(Once, it_happens_once_or_is_said_to_be_unknown) {
  const auto all = run_seeds(1 + GetParam() * seeds_per_portion, seeds_per_portion);
  EXPECT_THAT(all.violations, IsEmpty());
  EXPECT_GE(all.runs, 2 * seeds_per_portion) << "a seed is worth what it tries";
  EXPECT_GE(all.take_overs, seeds_per_portion);
  EXPECT_GE(all.replays, seeds_per_portion);
  EXPECT_GE(all.unknown, seeds_per_portion / 10);
  EXPECT_GE(all.faults, 10 * seeds_per_portion);
  std::cout << all.runs << " runs, " << all.take_overs << " take-overs, " << all.replays
            << " replays, " << all.unknown << " unknown, " << all.faults << " faults\n";
}

INSTANTIATE_TEST_SUITE_P(in_five_thousand_bad_weeks, Once,
                         testing::Range<std::uint64_t>(0, portions));

class EachPart : public testing::Test {
 public:
  void SetUp() override { keep_clients_quiet(); }
  static std::size_t violations(Weakness weakness) {
    return run_seeds(1, seeds_with_a_weakness, weakness).violations.size();
  }
};

TEST_F(EachPart, a_late_last_word_of_anybody_would_overwrite_the_winners) {
  EXPECT_GT(violations({.no_owners = true}), 0U);
}

TEST_F(EachPart, without_fences_a_run_that_was_believed_dead_writes_too) {
  EXPECT_GT(violations({.no_fences = true}), 0U);
}

TEST_F(EachPart, whoever_takes_over_without_looking_does_it_twice) {
  EXPECT_GT(violations({.no_looks = true}), 0U);
}

TEST_F(EachPart, the_same_seed_is_the_same_world) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto first = run_seed(seed);
    const auto second = run_seed(seed);
    EXPECT_EQ(first.runs, second.runs);
    EXPECT_EQ(first.faults, second.faults);
    EXPECT_EQ(first.replays, second.replays);
  }
}

}  // namespace
}  // namespace holdfast::simulation::once
