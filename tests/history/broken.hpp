// SPDX-License-Identifier: Apache-2.0
//
// A good story, broken in one way, and the rule that must say so. An excused one is broken in the
// same way, but something happened after which nothing is promised.
#pragma once

#include "history/stories.hpp"
#include "history/story.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace holdfast::history::test {

struct Break {
  std::string what;  // a sentence, with underscores
  const char* story;
  std::vector<Edit> edits;
  Rule rule;
};

inline void PrintTo(const Break& each, std::ostream* to) { *to << each.what; }

class BrokenHistory : public testing::TestWithParam<Break> {};
class ExcusedHistory : public testing::TestWithParam<Break> {};

inline std::string name_of(const testing::TestParamInfo<Break>& info) { return info.param.what; }

inline std::vector<Edit> both(std::vector<Edit> first, const std::vector<Edit>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

inline bool has(const std::vector<Violation>& violations, Rule rule) {
  return std::ranges::any_of(violations, [&](const auto& each) { return each.rule == rule; });
}

}  // namespace holdfast::history::test
