// SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include "cli/command.hpp"
#include "cli/commands/commands.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <memory>

namespace holdfast::cli {
namespace help_cmd {
namespace {

struct Wanted {
  std::string command;
  std::string subcommand;
};

Result<const Command*> find(const Wanted& wanted) {
  auto command = require_command(wanted.command);
  if (!command || wanted.subcommand.empty()) return command;
  const auto name = fmt::format("{} {}", wanted.command, wanted.subcommand);
  if (const auto* found = find_command(name)) return found;
  return fail(Errc::bad_input, fmt::format("unknown subcommand {}; see 'holdfast {} --help'",
                                           text::quoted(wanted.subcommand), wanted.command));
}

Result<int> show_help(Context& context, const Wanted& wanted) {
  std::string text;
  if (wanted.command.empty()) {
    text = overview();
  } else {
    const auto command = find(wanted);
    if (!command) return std::unexpected(command.error());
    text = help(**command);
  }
  context.console.print({{"help", text}});
  text.pop_back();  // print() ends the line
  context.console.print(text);
  return 0;
}

Action declare(Syntax& syntax) {
  const auto wanted = std::make_shared<Wanted>();
  syntax.positional("COMMAND", &wanted->command, "The command; none: a list of all");
  syntax.positional("SUBCOMMAND", &wanted->subcommand, "What stands behind it, if it has such");
  return [wanted](Context& context) { return show_help(context, *wanted); };
}

constexpr Example examples[] = {{"holdfast help config", "The same as 'holdfast config --help'."}};

}  // namespace
}  // namespace help_cmd

extern const Command help_command;
const Command help_command{
    .name = "help",
    .arguments = "[COMMAND [SUBCOMMAND]]",
    .summary = "explain a command",
    .description =
        "Prints what --help prints for the command, or the list of all commands.\n\n"
        "With --json: an object with the field help, the text.",
    .examples = help_cmd::examples,
    .declare = help_cmd::declare};

}  // namespace holdfast::cli
