// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.hpp"

#include <span>
#include <string_view>

namespace holdfast::cli {

// In the order in which help lists them.
std::span<const Command* const> all_commands();

// Null if there is none of that name.
const Command* find_command(std::string_view name);

}  // namespace holdfast::cli
