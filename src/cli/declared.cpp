// SPDX-License-Identifier: Apache-2.0
#include "cli/declared.hpp"

#include "cli/arguments.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace holdfast::cli {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find('|');
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

DeclaredValue value_of(std::string word) {
  // CLI11 adds what it checks: "CODE:INT in [0 - 255]".
  word = word.substr(0, word.find(':'));
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
    value.choices = split(value.word);
  }
  return value;
}

DeclaredOption option_of(const CLI::Option& option) {
  DeclaredOption out;
  for (const auto& name : option.get_snames()) out.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) out.names.push_back("--" + name);
  if (option.get_type_size_max() > 0) out.value = value_of(option.get_type_name());
  out.text = option.get_description();
  out.is_repeatable = !out.value.word.empty() && option.get_expected_max() > 1;
  return out;
}

DeclaredArgument argument_of(const CLI::Option& option) {
  const auto name = option.get_name(true);
  const auto type = option.get_type_name();
  // An argument whose value has no word of its own is called what it is.
  return {name, value_of(type.find('|') == std::string::npos ? name : type),
          option.get_description()};
}

Declared read(const CLI::App& app) {
  Declared out;
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->nonpositional()) {
      out.options.push_back(option_of(*option));
    } else {
      out.arguments.push_back(argument_of(*option));
    }
  }
  return out;
}

}  // namespace

Declared declared(const Command& command) {
  CLI::App app;
  app.set_help_flag();
  const auto unused = command.declare(app);
  return read(app);
}

const std::vector<DeclaredOption>& common_options() {
  static const auto options = [] {
    CommonOptions unused;
    CLI::App app;
    declare_common(app, unused);
    return read(app).options;
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
