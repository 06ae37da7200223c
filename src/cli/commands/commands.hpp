// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace holdfast::cli {

// In the order in which help lists them.
std::span<const Command* const> all_commands();

// Null if there is none of that name, which may have two words: "n8n add-lock".
const Command* find_command(std::string_view name);

// What may stand behind the command; most have none. Their names have two words.
std::span<const Command* const> subcommands_of(const Command& command);
// All commands and their subcommands, without those that are hidden.
std::vector<const Command*> shown_commands();

}  // namespace holdfast::cli
