// SPDX-License-Identifier: Apache-2.0
//
// docs/redisx.md names tests; each of them exists.
#include "docs/repository.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

// "Suite.name" of every test in the repository.
std::set<std::string> existing() {
  static const std::regex test(R"re(\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))re");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(repository() / "tests")) {
    if (!entry.path().filename().string().ends_with("_test.cpp")) continue;
    const std::string text = read_text(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), test), end; it != end; ++it) {
      names.insert((*it)[1].str() + "." + (*it)[2].str());
    }
  }
  return names;
}

TEST(RedisxPage, every_test_it_names_is_there) {
  static const std::regex named(R"re(`([A-Z]\w+\.[a-z0-9]\w*_\w+)`)re");
  const std::string page = read_text(repository() / "docs/redisx.md");
  const auto tests = existing();
  std::size_t count = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), named), end; it != end; ++it, ++count) {
    EXPECT_TRUE(tests.contains((*it)[1].str())) << (*it)[1].str();
  }
  EXPECT_GE(count, 30U);
}

TEST(RedisxPage, has_a_row_with_tests_for_each_of_the_eight_things_to_do_better) {
  const std::string page = read_text(repository() / "docs/redisx.md");
  for (int item = 1; item <= 8; ++item) {
    const std::regex row("\n\\| " + std::to_string(item) +
                         "\\. [^\n]*`[A-Z]\\w+\\.\\w+`[^\n]*\\|\n");
    EXPECT_TRUE(std::regex_search(page, row)) << item;
  }
}

}  // namespace
}  // namespace holdfast::test
