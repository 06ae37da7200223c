// SPDX-License-Identifier: Apache-2.0
//
// The options that every command has, which stand before or behind the command's name, and how the
// command is found among them.
#pragma once

#include "cli/console.hpp"
#include "cli/settings.hpp"
#include "cli/syntax.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

struct CommonOptions {
  SettingSources sources;
  ConsoleOptions console;
};

// The words, taken apart.
struct Words {
  std::optional<std::string> command;  // the first word that is neither an option nor its value
  std::vector<std::string> options;    // all others in front of "--"
  bool has_separator = false;          // "--" was there
  std::vector<std::string> rest;       // what stood behind it
};

Words take_apart(std::vector<std::string> arguments);

// Declares what every command has.
void declare_common(Syntax& syntax, CommonOptions& options);

}  // namespace holdfast::cli
