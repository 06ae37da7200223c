// SPDX-License-Identifier: Apache-2.0
//
// From words to a parsed command. The options that every command has stand before or behind the
// command's name.
#pragma once

#include <holdfast/error.hpp>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/settings.hpp"

#include <CLI/CLI.hpp>

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
void declare_common(CLI::App& app, CommonOptions& options);

// Errors: bad_input, with what to do. Throws nothing but CLI::CallForHelp.
Result<void> parse(CLI::App& app, std::vector<std::string> words);

}  // namespace holdfast::cli
