// SPDX-License-Identifier: Apache-2.0
//
// What a subcommand is: its texts, which are the one source of --help, the man pages and the
// completions, and a function that declares its options. A new command is one file in commands/ and
// one line in commands/commands.cpp.
#pragma once

#include <holdfast/error.hpp>

#include "cli/context.hpp"
#include "cli/syntax.hpp"

#include <functional>
#include <span>
#include <string_view>

namespace holdfast::cli {

struct Example {
  std::string_view line;     // "holdfast run nightly -- ./report.sh"
  std::string_view meaning;  // one sentence
};

// Returns the exit code of the program. An error is reported in one place, with its own exit code.
using Action = std::function<Result<int>(Context&)>;

struct Command {
  std::string_view name;         // "force-release"
  std::string_view arguments;    // what follows the options in the synopsis: "NAME"
  std::string_view summary;      // half a sentence for the list of commands
  std::string_view description;  // paragraphs, separated by empty lines
  std::span<const Example> examples;
  // Declares options and positional arguments, and returns what is to be done once they are parsed.
  Action (*declare)(Syntax&);
  bool takes_command = false;     // everything after "--" is Context::command_line
  bool may_lack_command = false;  // then there need be none; and it runs under no lock
  bool hidden = false;            // not in lists, help or man pages
};

}  // namespace holdfast::cli
