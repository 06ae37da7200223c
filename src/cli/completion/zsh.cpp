// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/completion/completion.hpp"
#include "cli/declared.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast::cli {
namespace {

constexpr std::string_view zsh_head = R"zsh(#compdef holdfast
# Completions of holdfast for zsh, made by 'holdfast completion zsh'.

# The names of locks, from the store that the line names.
_holdfast_names() {
  local option
  local -a store names
  for option in --store --profile --config; do
    if [[ -n ${opt_args[$option]} ]]; then
      store+=($option ${(Q)opt_args[$option]})
    elif [[ -n ${holdfast_before[$option]} ]]; then
      store+=($option ${(Q)holdfast_before[$option]})
    fi
  done
  names=("${(@f)$(command holdfast $store complete-names "${(Q)PREFIX}" 2>/dev/null)}")
  names=("${(@)names:#}")
  _wanted names expl 'lock' compadd -a names
}

)zsh";

constexpr std::string_view zsh_tail = R"zsh(
if [[ $funcstack[1] == _holdfast ]]; then
  _holdfast "$@"
else
  compdef _holdfast holdfast
fi
)zsh";

// Inside [ ] and between colons of a specification.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action_of(const DeclaredValue& value) {
  switch (value.kind) {
    case ValueKind::lock_name: return "_holdfast_names";
    case ValueKind::file: return "_files";
    case ValueKind::folder: return "_files -/";
    case ValueKind::command: return "_holdfast_commands";
    case ValueKind::choice: return fmt::format("({})", fmt::join(value.choices, " "));
    case ValueKind::other: break;
  }
  return " ";
}

// '(-q --quiet)'{-q,--quiet}'[Write nothing but errors]'
std::string specification(const DeclaredOption& option) {
  std::string rest = fmt::format("[{}]", escaped(option.text));
  std::string forms;
  for (const auto& name : option.names) {
    if (!forms.empty()) forms += ',';
    forms += name;
    // A short option has its value behind it, a long one also behind an equals sign.
    if (!option.value.word.empty()) forms += name.starts_with("--") ? "=" : "+";
  }
  if (!option.value.word.empty()) {
    rest += fmt::format(":{}:{}", escaped(option.value.word), action_of(option.value));
  }
  if (option.is_repeatable) return fmt::format("'*'{}{}", forms, shell_quoted(rest));
  if (option.names.size() == 1) return forms + shell_quoted(rest);
  return fmt::format("'({})'{{{}}}{}", fmt::join(option.names, " "), forms, shell_quoted(rest));
}

std::string specifications(const std::vector<DeclaredOption>& options, std::string_view indent) {
  std::string out;
  for (const auto& option : options) out += fmt::format("{}{}\n", indent, specification(option));
  return out;
}

// Where there is nothing to offer, zsh would not offer options either, unless it is told that a
// word with a dash is none of these.
std::string action_of(const DeclaredArgument& argument) {
  if (argument.value.kind != ValueKind::other) return action_of(argument.value);
  return fmt::format("_guard \"[^-]*\" {}", argument.name);
}

std::string case_of(const Command& command) {
  const auto parts = declared(command);
  auto out = fmt::format("    '{}')\n      specs=(\n", command.name);
  out += specifications(parts.options, "        ");
  for (std::size_t i = 0; i < parts.arguments.size(); ++i) {
    const auto& argument = parts.arguments[i];
    out += fmt::format(
        "        {}\n",
        shell_quoted(fmt::format("{}:{}:{}", i + 1, escaped(argument.name), action_of(argument))));
  }
  if (command.takes_command) out += "        '*:::command:_normal'\n";
  return out + "      )\n      ;;\n";
}

}  // namespace

std::string zsh_completion() {
  std::string list;
  std::string cases;
  std::string groups;
  for (const auto* command : shown_commands()) {
    cases += case_of(*command);
    if (!subcommands_of(*command).empty()) groups += fmt::format(" {}", command->name);
    if (command->name.find(' ') != std::string_view::npos) continue;
    list += fmt::format(
        "    {}\n", shell_quoted(fmt::format("{}:{}", command->name, escaped(command->summary))));
  }
  std::string out(zsh_head);
  out += "_holdfast_commands() {\n  local -a commands\n  commands=(\n" + list +
         "  )\n  _describe -t commands 'command' commands\n}\n\n";
  out +=
      "_holdfast() {\n"
      "  local context state state_descr line ret=1\n"
      "  local -a common specs\n"
      "  local -A opt_args holdfast_before\n"
      "  common=(\n" +
      specifications(common_options(), "    ") +
      "  )\n"
      "  _arguments -C -S \"${common[@]}\" '--version[Print the version and exit]' \\\n"
      "    '1:command:_holdfast_commands' '*::argument:->argument' && ret=0\n"
      "  [[ $state == argument ]] || return ret\n"
      "  holdfast_before=(\"${(@kv)opt_args}\")\n"
      "  local command=$words[1]\n"
      "  local -a groups=(" +
      groups +
      " )\n"
      "  if (( CURRENT > 2 && $groups[(Ie)$command] )); then\n"
      "    shift words\n"
      "    (( CURRENT-- ))\n"
      "    command=\"$command $words[1]\"\n"
      "  fi\n"
      "  case $command in\n" +
      cases +
      "    *) return ret ;;\n"
      "  esac\n"
      "  _arguments -S \"${common[@]}\" \"${specs[@]}\" && ret=0\n"
      "  return ret\n"
      "}\n";
  return out.append(zsh_tail);
}

}  // namespace holdfast::cli
