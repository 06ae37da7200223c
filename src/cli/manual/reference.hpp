// SPDX-License-Identifier: Apache-2.0
//
// What the man pages say besides the commands: exit codes, variables and files.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

struct Fact {
  std::string head;       // "75", "HOLDFAST_STORE"
  std::string_view word;  // the code in JSON, where there is one
  std::string_view text;
};

// What the code means, as docs/errors.md says it.
std::string_view meaning(Errc code);

// In ascending order; those of a command that is run only where one is run.
std::vector<Fact> exit_codes(bool takes_command);
std::vector<Fact> variables_read();
// What the command of run and elect finds in its environment.
std::vector<Fact> variables_set();
std::vector<Fact> files();

}  // namespace holdfast::cli
