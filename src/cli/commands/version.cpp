// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace holdfast::cli {
namespace {

Result<int> version(Context& context) {
  context.console.print(fmt::format("holdfast {}", HOLDFAST_VERSION));
  context.console.print({{"version", HOLDFAST_VERSION}});
  return 0;
}

}  // namespace

extern const Command version_command;
const Command version_command{.name = "version",
                              .arguments = "",
                              .summary = "print the version",
                              .description = "Prints the version of holdfast.",
                              .examples = {},
                              .declare = [](CLI::App&) -> Action { return version; }};

}  // namespace holdfast::cli
