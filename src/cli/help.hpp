// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.hpp"

#include <string>

namespace holdfast::cli {

// What `holdfast --help` prints.
std::string overview();
// What `holdfast COMMAND --help` prints, from the command's texts and what it declared.
std::string help(const Command& command, const CLI::App& app);

}  // namespace holdfast::cli
