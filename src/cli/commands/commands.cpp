// SPDX-License-Identifier: Apache-2.0
//
// The only file that names every command.
#include "cli/commands/commands.hpp"

#include "cli/n8n/subcommands.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::cli {

extern const Command acquire_command;
extern const Command complete_names_command;
extern const Command completion_command;
extern const Command config_command;
extern const Command doctor_command;
extern const Command force_release_command;
extern const Command elect_command;
extern const Command guard_command;
extern const Command help_command;
extern const Command limit_command;
extern const Command list_command;
extern const Command man_pages_command;
extern const Command n8n_command;
extern const Command once_command;
extern const Command release_command;
extern const Command renew_command;
extern const Command run_command;
extern const Command serve_command;
extern const Command status_command;
extern const Command token_command;
extern const Command version_command;
extern const Command watch_command;

namespace {

constexpr const Command* commands[] = {
    &run_command,       &elect_command,          &once_command,   &acquire_command,
    &release_command,   &renew_command,          &status_command, &list_command,
    &watch_command,     &force_release_command,  &limit_command,  &doctor_command,
    &config_command,    &serve_command,          &guard_command,  &token_command,
    &n8n_command,       &completion_command,     &help_command,   &version_command,
    &man_pages_command, &complete_names_command,
};

}  // namespace

std::span<const Command* const> all_commands() { return commands; }

const Command* find_command(std::string_view name) {
  const auto first = name.substr(0, name.find(' '));
  const auto* const found = std::ranges::find(commands, first, &Command::name);
  if (found == std::end(commands)) return nullptr;
  if (first == name) return *found;
  const auto more = subcommands_of(**found);
  const auto sub = std::ranges::find(more, name, &Command::name);
  return sub == more.end() ? nullptr : *sub;
}

std::span<const Command* const> subcommands_of(const Command& command) {
  if (&command == &n8n_command) return n8n_subcommands();
  return {};
}

std::vector<const Command*> shown_commands() {
  std::vector<const Command*> out;
  for (const auto* command : commands) {
    if (command->hidden) continue;
    out.push_back(command);
    std::ranges::copy(subcommands_of(*command), std::back_inserter(out));
  }
  return out;
}

}  // namespace holdfast::cli
