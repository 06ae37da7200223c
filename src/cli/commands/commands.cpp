// SPDX-License-Identifier: Apache-2.0
//
// The only file that names every command.
#include "cli/commands/commands.hpp"

#include <algorithm>

namespace holdfast::cli {

extern const Command status_command;
extern const Command version_command;

namespace {

constexpr const Command* commands[] = {
    &status_command,
    &version_command,
};

}  // namespace

std::span<const Command* const> all_commands() { return commands; }

const Command* find_command(std::string_view name) {
  const auto* const found = std::ranges::find(commands, name, &Command::name);
  return found == std::end(commands) ? nullptr : *found;
}

}  // namespace holdfast::cli
