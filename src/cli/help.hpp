// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.hpp"

#include <string>

namespace holdfast::cli {

// What `holdfast --help` prints.
std::string overview();
// What `holdfast COMMAND --help` prints, from the command's texts and what it declares.
std::string help(const Command& command);

// The command of that name, or bad_input with the one that was probably meant.
Result<const Command*> require_command(std::string_view name);

}  // namespace holdfast::cli
