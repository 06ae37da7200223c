// SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include "cli/commands/commands.hpp"
#include "cli/declared.hpp"
#include "cli/suggest.hpp"
#include "cli/wrap.hpp"
#include "text/quote.hpp"
#include "text/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace holdfast::cli {
namespace {

constexpr std::size_t widest_head = 26;

struct Row {
  std::string head;
  std::string_view text;
};

std::string table(std::string_view title, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  std::size_t from = 0;
  for (const auto& row : rows) {
    const auto width = columns(row.head) + 4;
    if (width <= widest_head) from = std::max(from, width);
  }
  if (from == 0) from = widest_head;
  auto out = fmt::format("\n{}:\n", title);
  for (const auto& row : rows) out += beside(row.head, row.text, from);
  return out;
}

std::string option_table(std::string_view title, const std::vector<DeclaredOption>& options) {
  std::vector<Row> rows;
  for (const auto& option : options) {
    // Long names stand below each other, whether a short one precedes them or not.
    const auto* const gap = option.names.front().starts_with("--") ? "    " : "";
    rows.push_back({gap + synopsis(option), option.text});
  }
  return table(title, rows);
}

std::string argument_table(const std::vector<DeclaredArgument>& arguments) {
  std::vector<Row> rows;
  rows.reserve(arguments.size());
  for (const auto& argument : arguments) rows.push_back({argument.name, argument.text});
  return table("arguments", rows);
}

std::string example_list(std::span<const Example> examples) {
  if (examples.empty()) return "";
  std::string out = "\nexamples:\n";
  for (const auto& example : examples) {
    out += fmt::format("  {}\n", example.line);
    out += wrapped(example.meaning, 6);
  }
  return out;
}

}  // namespace

std::string overview() {
  std::vector<Row> rows;
  for (const auto* command : all_commands()) {
    if (!command->hidden) rows.push_back({std::string(command->name), command->summary});
  }
  return "holdfast: locks for every machine, honest about their loss\n\n"
         "usage: holdfast COMMAND [OPTIONS] …\n" +
         table("commands", rows) +
         option_table("options, before or behind the command", options_without_command()) +
         "\n'holdfast help COMMAND' explains a command, 'man holdfast' exit codes, variables\n"
         "and files.\n";
}

std::string help(const Command& command) {
  const auto parts = declared(command);
  std::vector<Row> subcommands;
  for (const auto* each : subcommands_of(command)) {
    const auto name = each->name.substr(each->name.find(' ') + 1);
    subcommands.push_back({std::string(name), each->summary});
  }
  return fmt::format("usage: {}\n\n", synopsis(command)) + wrapped(command.description, 0) +
         table("subcommands", subcommands) + argument_table(parts.arguments) +
         option_table("options", parts.options) +
         option_table("options of every command", common_options()) +
         example_list(command.examples) +
         fmt::format("\nThe exit codes are in 'man {}'.\n", page_name(command));
}

Result<const Command*> require_command(std::string_view name) {
  if (const auto* command = find_command(name)) return command;
  std::vector<std::string> known;
  for (const auto* command : all_commands()) {
    if (!command->hidden) known.emplace_back(command->name);
  }
  auto hint = did_you_mean(name, known);
  if (hint.empty()) hint = "; see 'holdfast --help'";
  return fail(Errc::bad_input,
              fmt::format("unknown command {}{}", text::quoted(text::masked(name)), hint));
}

}  // namespace holdfast::cli
