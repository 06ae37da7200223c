// SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include "cli/command.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace holdfast::cli {
namespace {

Result<int> show_help(Context& context, const std::string& name) {
  std::string text;
  if (name.empty()) {
    text = overview();
  } else {
    const auto command = require_command(name);
    if (!command) return std::unexpected(command.error());
    text = help(**command);
  }
  context.console.print({{"help", text}});
  text.pop_back();  // print() ends the line
  context.console.print(text);
  return 0;
}

Action declare(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  app.add_option("COMMAND", *name, "The command; none: a list of all");
  return [name](Context& context) { return show_help(context, *name); };
}

constexpr Example examples[] = {{"holdfast help config", "The same as 'holdfast config --help'."}};

}  // namespace

extern const Command help_command;
const Command help_command{
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "explain a command",
    .description =
        "Prints what --help prints for the command, or the list of all commands.\n\n"
        "With --json: an object with the field help, the text.",
    .examples = examples,
    .declare = declare};

}  // namespace holdfast::cli
