// SPDX-License-Identifier: Apache-2.0
//
// Every example runs to its end, quickly and without a failure. Skips those that were not built.
#include "docs/repository.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

// A program is a file or a folder of examples/.
std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(repository() / "examples")) {
    if (entry.is_directory() || entry.path().extension() == ".cpp") {
      names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Beside the folder of this very program.
fs::path built(const std::string& name) {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "examples" / name;
}

class Example : public testing::TestWithParam<std::string> {};

TEST_P(Example, runs_to_its_end) {
  const fs::path program = built(GetParam());
  if (!fs::exists(program)) GTEST_SKIP() << program << " was not built";
  const std::string arguments = GetParam() == "tour" ? " --quick" : "";
  const std::string command = "timeout 300 '" + program.string() + "'" + arguments + " 2>&1";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

INSTANTIATE_TEST_SUITE_P(Examples, Example, testing::ValuesIn(example_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace holdfast::test
