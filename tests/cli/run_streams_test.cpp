// SPDX-License-Identifier: Apache-2.0
//
// Standard input, output and error that are full, closed or gone.
#include "cli/holdfast_program.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class Streams : public Cli {};

TEST_F(Streams, that_are_closed_are_closed_for_the_command_too) {
  const std::string look =
      "for n in 0 1 2; do [ -e /proc/self/fd/$n ] || echo $n; done > " + path("closed");
  const auto run = holdfast({"run", "x", "--", "bash", "-c", look},
                            {.stdin_from = "closed", .stdout_to = "closed", .stderr_to = "closed"});
  EXPECT_EQ(run.code, 0);
  const auto seen = test::run({"cat", path("closed")});
  EXPECT_THAT(seen.out, HasSubstr("0"));
}

TEST_F(Streams, that_are_closed_never_become_files_of_the_store) {
  const auto run = holdfast({"run", "x", "--", "sh", "-c", "echo this; echo that >&2"},
                            {.stdin_from = "closed", .stdout_to = "closed", .stderr_to = "closed"});
  EXPECT_EQ(run.code, 2) << "the shell's echo fails";
  EXPECT_EQ(holdfast({"status", "x"}).code, 0);
  EXPECT_EQ(holdfast({"run", "x", "--", "true"}).code, 0);
}

TEST_F(Streams, that_are_full_are_the_commands_problem) {
  const auto run =
      holdfast({"run", "x", "--", "sh", "-c", "echo lost || exit 9"}, {.stdout_to = "/dev/full"});
  EXPECT_EQ(run.code, 9);
}

TEST_F(Streams, that_are_full_make_a_command_with_results_fail) {
  const auto status = holdfast({"status", "x"}, {.stdout_to = "/dev/full"});
  EXPECT_EQ(status.code, 74);
  EXPECT_THAT(status.err, HasSubstr("standard output"));
}

TEST_F(Streams, that_end_early_are_a_broken_pipe_as_everywhere) {
  const auto piped =
      test::run({"bash", "-c",
                 std::string("set -o pipefail; ") + HOLDFAST_BINARY + " run x -- yes | head -1"},
                with({}));
  EXPECT_EQ(piped.out, "y\n");
  EXPECT_EQ(piped.code, 128 + 13);
}

}  // namespace
}  // namespace holdfast::test
