// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace holdfast::cli {

// The whole program but for main(): finds the command, parses, acts, reports. Returns the exit
// code. The arguments are those behind the program's name.
int run_program(std::vector<std::string> arguments);

}  // namespace holdfast::cli
