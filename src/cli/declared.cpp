// SPDX-License-Identifier: Apache-2.0
#include "cli/declared.hpp"

#include "cli/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace holdfast::cli {
namespace {

std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(mark);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

DeclaredValue value_of(std::string word) {
  constexpr std::pair<std::string_view, ValueKind> kinds[] = {{"NAME", ValueKind::lock_name},
                                                              {"PREFIX", ValueKind::lock_name},
                                                              {"FILE", ValueKind::file},
                                                              {"DIR", ValueKind::folder},
                                                              {"COMMAND", ValueKind::command}};
  DeclaredValue value{.word = std::move(word), .kind = ValueKind::other, .choices = {}};
  for (const auto& [name, kind] : kinds) {
    if (value.word == name) value.kind = kind;
  }
  if (value.word.find('|') != std::string::npos) {
    value.kind = ValueKind::choice;
    value.choices = split(value.word, '|');
  }
  return value;
}

DeclaredOption option_of(const Option& option) {
  return {.names = split(option.names, ','),
          .value = value_of(option.word),
          .text = option.text,
          .is_repeatable = option.is_list()};
}

DeclaredArgument argument_of(const Option& option) {
  // An argument whose value has no word of its own is called what it is.
  return {option.names, value_of(option.word.empty() ? option.names : option.word), option.text};
}

Declared read_syntax(const Syntax& syntax) {
  Declared out;
  for (const auto& option : syntax.options()) {
    if (option.is_positional()) {
      out.arguments.push_back(argument_of(option));
    } else {
      out.options.push_back(option_of(option));
    }
  }
  return out;
}

}  // namespace

Declared declared(const Command& command) {
  Syntax syntax;
  const auto unused = command.declare(syntax);
  return read_syntax(syntax);
}

const std::vector<DeclaredOption>& common_options() {
  static const auto options = [] {
    CommonOptions unused;
    Syntax syntax;
    declare_common(syntax, unused);
    return read_syntax(syntax).options;
  }();
  return options;
}

std::vector<DeclaredOption> options_without_command() {
  auto options = common_options();
  options.push_back({{"--version"}, {}, "Print the version and exit", false});
  return options;
}

std::string synopsis(const DeclaredOption& option) {
  auto out = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.value.word.empty()) out += " " + option.value.word;
  return out;
}

std::string page_name(const Command& command) {
  auto name = fmt::format("holdfast-{}", command.name);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string synopsis(const Command& command) {
  auto out = fmt::format("holdfast {} [OPTIONS]", command.name);
  if (!command.arguments.empty()) out += fmt::format(" {}", command.arguments);
  return out;
}

}  // namespace holdfast::cli
