// SPDX-License-Identifier: Apache-2.0
#include "cli/completion/complete_names.hpp"

#include "cli/command.hpp"

#include <unistd.h>

#include <csignal>
#include <memory>

namespace holdfast::cli {
namespace complete_names_cmd {
namespace {

// Somebody has pressed a key and waits: a slow store has no names, and nobody wants to read why.
void end_after(std::chrono::seconds patience) {
  std::signal(SIGALRM, [](int) { _exit(0); });
  alarm(static_cast<unsigned>(patience.count()));
}

Result<int> complete_names(Context& context, const std::string& prefix) {
  end_after(completion_patience);
  const auto client = context.open_store();
  if (!client) return 0;
  std::string cursor;
  std::size_t count = 0;
  do {
    const auto page = client->list({.prefix = prefix, .cursor = cursor});
    if (!page) return 0;
    for (const auto& lock : page->locks) {
      if (++count > max_completions) return 0;
      context.console.print(lock.name);
    }
    cursor = page->next;
  } while (!cursor.empty());
  return 0;
}

Action declare(Syntax& syntax) {
  const auto prefix = std::make_shared<std::string>();
  syntax.positional("PREFIX", prefix.get(), "What the names begin with");
  return [prefix](Context& context) { return complete_names(context, *prefix); };
}

}  // namespace
}  // namespace complete_names_cmd

extern const Command complete_names_command;
const Command complete_names_command{
    .name = "complete-names",
    .arguments = "[PREFIX]",
    .summary = "print names of locks, for completions",
    .description = "Prints the names of locks that begin with the prefix, one per line.",
    .examples = {},
    .declare = complete_names_cmd::declare,
    .hidden = true};

}  // namespace holdfast::cli
