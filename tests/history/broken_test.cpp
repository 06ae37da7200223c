// SPDX-License-Identifier: Apache-2.0
#include "history/broken.hpp"

namespace holdfast::history::test {
namespace {

TEST_P(BrokenHistory, is_flagged_by_its_rule) {
  const std::string text = edited(GetParam().story, GetParam().edits);
  const auto violations = check(story(text));
  EXPECT_TRUE(has(violations, GetParam().rule))
      << "expected " << to_string(GetParam().rule) << ", found\n"
      << sentences(violations) << text;
  for (const Violation& violation : violations) EXPECT_FALSE(violation.why.empty());
}

TEST_P(ExcusedHistory, is_not_flagged_by_its_rule) {
  const std::string text = edited(GetParam().story, GetParam().edits);
  const auto violations = check(story(text));
  EXPECT_FALSE(has(violations, GetParam().rule)) << sentences(violations) << text;
}

}  // namespace
}  // namespace holdfast::history::test
