// SPDX-License-Identifier: Apache-2.0
#include "cli/completion/completion.hpp"

#include "cli/command.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <memory>

namespace holdfast::cli {
namespace completion_cmd {
namespace {

Result<std::string> script_for(std::string_view shell) {
  if (shell == "bash") return bash_completion();
  if (shell == "zsh") return zsh_completion();
  if (shell == "fish") return fish_completion();
  return fail(Errc::bad_input,
              fmt::format("there are no completions for {}; known are bash, zsh and fish",
                          text::quoted(shell)));
}

Result<int> completion(Context& context, const std::string& shell) {
  auto script = script_for(shell);
  if (!script) return std::unexpected(std::move(script.error()));
  context.console.print({{"shell", shell}, {"script", *script}});
  script->pop_back();  // print() ends the line
  context.console.print(*script);
  return 0;
}

Action declare(Syntax& syntax) {
  const auto shell = std::make_shared<std::string>();
  syntax.positional("SHELL", shell.get(), "bash, zsh or fish", "bash|zsh|fish").required();
  return [shell](Context& context) { return completion(context, *shell); };
}

constexpr Example examples[] = {
    {"source <(holdfast completion bash)", "For this shell, or in ~/.bashrc for all."},
    {"source <(holdfast completion zsh)", "In ~/.zshrc, behind compinit."},
    {"holdfast completion fish > ~/.config/fish/completions/holdfast.fish", "For fish."},
};

}  // namespace
}  // namespace completion_cmd

extern const Command completion_command;
const Command completion_command{
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .summary = "print completions for a shell",
    .description =
        "Prints a script that teaches the shell to complete commands, options and the "
        "names of the locks that are in the store. An installed holdfast has it in "
        "place already.\n\n"
        "With --json: an object with the fields shell and script.",
    .examples = completion_cmd::examples,
    .declare = completion_cmd::declare};

}  // namespace holdfast::cli
