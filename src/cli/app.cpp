// SPDX-License-Identifier: Apache-2.0
#include "cli/app.hpp"

#include "cli/arguments.hpp"
#include "cli/commands/commands.hpp"
#include "cli/help.hpp"
#include "text/error_codes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace holdfast::cli {
namespace {

constexpr int exit_our_mistake = 70;  // sysexits' EX_SOFTWARE

int report(Console& console, const Error& error) {
  console.error(error);
  return text::exit_code(error.code);
}

int print_and_finish(Console& console, std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  console.print(text);
  return console.finish() ? 0 : exit_output_failed;
}

// `holdfast` alone, `holdfast --help`, `holdfast --version`.
int without_command(const Words& words) {
  CommonOptions common;
  Syntax syntax("holdfast");
  declare_common(syntax, common);
  bool version = false;
  syntax.flag("--version", &version, "");
  Console plain;
  const auto asked = syntax.parse(words.options);
  if (!asked) return report(plain, asked.error());
  if (*asked == Syntax::Asked::help) return print_and_finish(plain, overview());
  if (version) return run_program({"version"});
  return report(plain, {Errc::bad_input, "a command is missing; see 'holdfast --help'"});
}

int act(const Command& command, const CommonOptions& common, const Action& action, Words& words) {
  Console console(common.console);
  const bool may_lack_it = command.may_lack_command && !words.has_separator;
  if (command.takes_command && words.rest.empty() && !may_lack_it) {
    return report(console,
                  {Errc::bad_input, fmt::format("no command to run; write 'holdfast {} NAME -- "
                                                "COMMAND'",
                                                command.name)});
  }
  Context context(common.sources, console, std::move(words.rest));
  const auto code = action(context);
  const bool written = console.finish();
  if (!code) return report(console, code.error());
  return written ? *code : exit_output_failed;
}

int with_command(const Command& command, Words words) {
  CommonOptions common;
  Syntax syntax(fmt::format("holdfast {}", command.name));
  const Action action = command.declare(syntax);
  declare_common(syntax, common);
  // Where there is no command, what stands behind "--" are names, such as one that begins with "-".
  if (words.has_separator && !command.takes_command) {
    words.options.emplace_back("--");
    std::ranges::move(words.rest, std::back_inserter(words.options));
    words.rest.clear();
  }
  const auto asked = syntax.parse(words.options);
  if (!asked) {
    Console console(common.console);
    return report(console, asked.error());
  }
  if (*asked == Syntax::Asked::help) {
    Console console;
    return print_and_finish(console, help(command));
  }
  return act(command, common, action, words);
}

// `holdfast n8n add-lock …` is the command "n8n add-lock", wherever options stand. What is no
// subcommand is left to the command itself, which says so.
const Command& with_subcommand(const Command& command, Words& words) {
  if (subcommands_of(command).empty()) return command;
  auto behind = take_apart(words.options);
  if (!behind.command) return command;
  const auto* found = find_command(fmt::format("{} {}", command.name, *behind.command));
  if (found == nullptr) return command;
  words.options = std::move(behind.options);
  return *found;
}

}  // namespace

int run_program(std::vector<std::string> arguments) try {
  auto words = take_apart(std::move(arguments));
  if (!words.command) return without_command(words);
  const auto command = require_command(*words.command);
  if (command) {
    const auto& chosen = with_subcommand(**command, words);
    return with_command(chosen, std::move(words));
  }
  const bool json = std::ranges::find(words.options, "--json") != words.options.end();
  Console console({.json = json});
  return report(console, command.error());
} catch (const std::exception& error) {
  Console console;
  console.error(fmt::format("unexpected failure: {}", error.what()), exit_our_mistake);
  return exit_our_mistake;
}

}  // namespace holdfast::cli
