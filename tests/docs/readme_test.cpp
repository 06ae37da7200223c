// SPDX-License-Identifier: Apache-2.0
//
// What a newcomer reads first must be true: the program in the README is the one that is compiled.
#include "docs/repository.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin);
  if (from == std::string::npos) return "no " + begin;
  const auto start = from + begin.size();
  const auto stop = text.find(end, start);
  if (stop == std::string::npos) return "no " + end;
  return text.substr(start, stop - start);
}

TEST(Readme, shows_the_program_that_is_compiled) {
  const std::string shown = between(read_text(repository() / "README.md"), "```cpp\n", "```");
  const std::string compiled =
      between(read_text(repository() / "examples/first_lock.cpp"), "// [readme]\n", "// [/readme]");
  EXPECT_EQ(shown, compiled);
}

}  // namespace
}  // namespace holdfast::test
