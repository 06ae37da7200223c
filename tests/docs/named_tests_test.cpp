// SPDX-License-Identifier: Apache-2.0
//
// Pages that name tests: each of them exists, and each thing to do better has one.
#include "docs/repository.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

// "Suite.name" of every test in the repository. The expression is tried only where a line begins
// with TEST: over whole files it takes seconds.
std::set<std::string> existing() {
  static const std::regex test(R"re(TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))re");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(repository() / "tests")) {
    if (!entry.path().filename().string().ends_with("_test.cpp")) continue;
    const std::string text = read_text(entry.path());
    for (auto at = text.find("\nTEST"); at != std::string::npos; at = text.find("\nTEST", at + 1)) {
      const auto from = text.begin() + static_cast<std::ptrdiff_t>(at) + 1;
      std::smatch found;
      if (!std::regex_search(from, text.end(), found, test,
                             std::regex_constants::match_continuous)) {
        continue;
      }
      names.insert(found[1].str() + "." + found[2].str());
    }
  }
  return names;
}

struct Page {
  std::string name;
  std::size_t tests;  // at least
  int things;         // to do better
};

class PageWithTests : public testing::TestWithParam<Page> {
 protected:
  const std::string page = read_text(repository() / "docs" / (GetParam().name + ".md"));
};

TEST_P(PageWithTests, every_test_it_names_is_there) {
  static const std::regex named(R"re(`([A-Z]\w+\.[a-z0-9]\w*_\w+)`)re");
  const auto tests = existing();
  std::size_t count = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), named), end; it != end; ++it, ++count) {
    EXPECT_TRUE(tests.contains((*it)[1].str())) << (*it)[1].str();
  }
  EXPECT_GE(count, GetParam().tests);
}

TEST_P(PageWithTests, has_a_row_with_tests_for_each_thing_to_do_better) {
  for (int item = 1; item <= GetParam().things; ++item) {
    const std::regex row("\n\\| " + std::to_string(item) +
                         "\\. [^\n]*`[A-Z]\\w+\\.\\w+`[^\n]*\\|\n");
    EXPECT_TRUE(std::regex_search(page, row)) << item;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, PageWithTests,
                         testing::Values(Page{"redisx", 30, 8}, Page{"forrst", 12, 9},
                                         Page{"incidents", 60, 0}),
                         [](const auto& page) { return page.param.name; });

}  // namespace
}  // namespace holdfast::test
