// SPDX-License-Identifier: Apache-2.0
#include "cli/holdfast_program.hpp"

namespace holdfast::test {
namespace {

TEST_F(Cli, tells_its_version) {
  const auto shown = holdfast({"version"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(shown.out.starts_with("holdfast ")) << shown.out;
  EXPECT_EQ(shown.err, "");
  EXPECT_EQ(holdfast({"--version"}).out, shown.out);
}

TEST_F(Cli, that_cannot_write_its_result_says_so_and_fails) {
  const auto full = holdfast({"version"}, {.stdout_to = "/dev/full"});
  EXPECT_EQ(full.code, 74);
  EXPECT_NE(full.err.find("No space left on device"), std::string::npos) << full.err;
  EXPECT_EQ(holdfast({"version"}, {.stdout_to = "closed"}).code, 74);
}

}  // namespace
}  // namespace holdfast::test
