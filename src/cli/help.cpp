// SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace holdfast::cli {

std::string overview() {
  std::string out =
      "holdfast: locks for every machine, honest about their loss\n\n"
      "usage: holdfast COMMAND [OPTIONS] …\n\ncommands:\n";
  for (const auto* command : all_commands()) {
    if (!command->hidden) out += fmt::format("  {:<14} {}\n", command->name, command->summary);
  }
  out += "\n'holdfast COMMAND --help' says more.\n";
  return out;
}

std::string help(const Command& command, const CLI::App& app) {
  std::string out = fmt::format("usage: holdfast {} [OPTIONS] {}\n\n{}\n\noptions:\n", command.name,
                                command.arguments, command.description);
  for (const auto* option : app.get_options()) {
    if (!option->nonpositional()) continue;
    const auto value = option->get_type_name();
    out += fmt::format("  {:<28} {}\n",
                       option->get_name(false, true) + (value.empty() ? "" : " " + value),
                       option->get_description());
  }
  return out;
}

}  // namespace holdfast::cli
