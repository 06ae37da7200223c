// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/completion/completion.hpp"
#include "cli/declared.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast::cli {
namespace {

constexpr std::string_view fish_head =
    R"fish(# Completions of holdfast for fish, made by 'holdfast completion fish'.

# The command on the line in front of the cursor; fails if there is none yet.
function __holdfast_command
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case --store --profile --config
                set -e words[1]
            case '-*'
            case '*'
                set -l rest (string match -v -- '-*' $words[2..])
                if contains -- $words[1] $__holdfast_groups; and set -q rest[1]
                    echo "$words[1] $rest[1]"
                else
                    echo $words[1]
                end
                return 0
        end
        set -e words[1]
    end
    return 1
end

function __holdfast_is
    not __holdfast_is_behind; and contains -- (__holdfast_command) $argv
end

# Whether the cursor is behind "--", in the words of another command.
function __holdfast_is_behind
    contains -- -- (commandline -opc)
end

function __holdfast_has_no_command
    not __holdfast_is_behind; and not __holdfast_command >/dev/null
end

# The names of locks, from the store that the line names.
function __holdfast_names
    set -l words (commandline -opc)
    set -l store
    while set -q words[1]
        switch $words[1]
            case --store --profile --config
                set -q words[2]; and set -a store $words[1..2]
            case '--store=*' '--profile=*' '--config=*'
                set -a store $words[1]
        end
        set -e words[1]
    end
    set -l token (string replace -r -- '^--[a-z-]+=' '' (commandline -ct))
    set -l prefix (string unescape -- $token 2>/dev/null; or string trim -l -c '"\'' -- $token)
    command holdfast $store complete-names "$prefix" 2>/dev/null
end

# What the command behind "--" would complete.
function __holdfast_rest
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -e words[1..(contains -i -- -- $words)]
    complete -C (string join ' ' -- (string escape -- $words) "$token")
end

complete -c holdfast -f
complete -c holdfast -n __holdfast_is_behind -a '(__holdfast_rest)'
)fish";

// What to offer for a value.
std::string source_of(const DeclaredValue& value) {
  switch (value.kind) {
    case ValueKind::lock_name: return "-a '(__holdfast_names)'";
    case ValueKind::file: return "-F";
    case ValueKind::folder: return "-a '(__fish_complete_directories)'";
    case ValueKind::command: return "-a \"$__holdfast_commands\"";
    case ValueKind::choice: return fmt::format("-a '{}'", fmt::join(value.choices, " "));
    case ValueKind::other: break;
  }
  return "";
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string option_line(const DeclaredOption& option, std::string_view condition) {
  auto out = fmt::format("complete -c holdfast -n '{}'", condition);
  for (const auto& name : option.names) {
    const bool is_long = name.starts_with("--");
    out += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
  }
  if (!option.value.word.empty()) {
    out += option.value.kind == ValueKind::file ? " -r" : " -x";
    if (const auto source = source_of(option.value); !source.empty()) out += " " + source;
  }
  return out + fmt::format(" -d {}\n", fish_quoted(option.text));
}

std::string lines_of(const Command& command) {
  const auto parts = declared(command);
  const auto condition = fmt::format("__holdfast_is \"{}\"", command.name);
  std::string out;
  for (const auto& option : parts.options) out += option_line(option, condition);
  for (const auto& argument : parts.arguments) {
    const auto source = source_of(argument.value);
    if (!source.empty()) out += fmt::format("complete -c holdfast -n '{}' {}\n", condition, source);
  }
  return out;
}

}  // namespace

std::string fish_completion() {
  std::vector<std::string_view> names;
  std::string commands;
  std::string lines;
  std::string groups;
  for (const auto* command : shown_commands()) {
    lines += lines_of(*command);
    if (!subcommands_of(*command).empty()) groups += fmt::format(" {}", command->name);
    if (command->name.find(' ') != std::string_view::npos) continue;
    names.push_back(command->name);
    commands += fmt::format("complete -c holdfast -n __holdfast_has_no_command -a {} -d {}\n",
                            command->name, fish_quoted(command->summary));
  }
  auto out = fmt::format("{}set -g __holdfast_commands {}\nset -g __holdfast_groups{}\n", fish_head,
                         fmt::join(names, " "), groups);
  for (const auto& option : common_options()) {
    out += option_line(option, "not __holdfast_is_behind");
  }
  out += option_line(options_without_command().back(), "__holdfast_has_no_command");
  return out + commands + lines;
}

}  // namespace holdfast::cli
