// SPDX-License-Identifier: Apache-2.0
#include "simulation/arguments.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::simulation {
namespace {

std::expected<Arguments, std::string> parse(std::vector<std::string> words) {
  words.insert(words.begin(), "simulate");
  std::vector<char*> values;
  for (std::string& word : words) values.push_back(word.data());
  return parse_arguments(static_cast<int>(values.size()), values.data());
}

TEST(Arguments, are_read) {
  const auto arguments = parse({"--seed", "7", "--seeds", "20", "--jobs", "2", "--bug", "x"});
  ASSERT_TRUE(arguments.has_value());
  EXPECT_EQ(arguments->seed, 7U);
  EXPECT_EQ(arguments->seeds, 20U);
  EXPECT_EQ(arguments->jobs, 2U);
  EXPECT_EQ(arguments->bug, "x");
  EXPECT_FALSE(arguments->quorum);
  EXPECT_TRUE(parse({"--quorum"})->quorum);
}

TEST(Arguments, that_are_wrong_are_named) {
  EXPECT_EQ(parse({"--sed", "7"}).error(), "--sed: unknown option");
  EXPECT_EQ(parse({"--seed"}).error(), "--seed: needs a value");
  EXPECT_EQ(parse({"--seed", "7x"}).error(), "--seed: must be a number");
  EXPECT_EQ(parse({"--seed", ""}).error(), "--seed: must be a number");
  EXPECT_EQ(parse({"--seeds", "0"}).error(), "--seeds: must be at least 1");
  EXPECT_EQ(parse({"--jobs", "257"}).error(), "--jobs: must be at most 256");
}

}  // namespace
}  // namespace holdfast::simulation
