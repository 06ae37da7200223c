// SPDX-License-Identifier: Apache-2.0
//
// What a command declared, as plain data: help, man pages and completions are made of it.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace holdfast::cli {

// What a value is, by the word that stands for it in help: a shell offers the right things.
enum class ValueKind {
  other,      // "DURATION": nothing to offer
  lock_name,  // "NAME", "PREFIX"
  file,       // "FILE"
  folder,     // "DIR"
  command,    // "COMMAND", one of Holdfast's
  choice,     // "bash|zsh|fish"
};

struct DeclaredValue {
  std::string word;  // empty: it has no value
  ValueKind kind = ValueKind::other;
  std::vector<std::string> choices;
};

struct DeclaredOption {
  std::vector<std::string> names;  // "-q" before "--quiet"
  DeclaredValue value;
  std::string text;
  bool is_repeatable = false;
};

struct DeclaredArgument {
  std::string name;
  DeclaredValue value;
  std::string text;
};

struct Declared {
  std::vector<DeclaredArgument> arguments;
  std::vector<DeclaredOption> options;  // its own
};

Declared declared(const Command& command);
// The options that every command has.
const std::vector<DeclaredOption>& common_options();
// `--version` and the common ones: what may stand alone.
std::vector<DeclaredOption> options_without_command();

// "-q, --quiet" or "--store URL"
std::string synopsis(const DeclaredOption& option);
// "holdfast-force-release", "holdfast-n8n-add-lock"
std::string page_name(const Command& command);
// "holdfast run [OPTIONS] NAME -- COMMAND"
std::string synopsis(const Command& command);

}  // namespace holdfast::cli
