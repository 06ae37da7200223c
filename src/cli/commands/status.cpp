// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/warnings.hpp"
#include "cli/options.hpp"
#include "text/json.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <memory>

namespace holdfast::cli {
namespace status_cmd {
namespace {

struct Arguments {
  std::string name;
  bool history = false;
  std::uint32_t limit = 20;
};

void print_with_heading(Console& console, const std::vector<std::string>& lines) {
  for (const auto& line : lines) {
    console.print(&line == &lines.front() ? console.styled(Style::bold, line) : line);
  }
}

Result<int> history(Context& context, const Client& client, const Arguments& arguments) {
  const auto events = client.history(arguments.name, arguments.limit);
  if (!events) return std::unexpected(events.error());
  boost::json::array out;
  for (const auto& event : *events) out.emplace_back(text::to_json(event));
  context.console.print({{"name", arguments.name}, {"events", std::move(out)}});
  if (events->empty() && !context.console.json()) {
    context.console.note(fmt::format("nothing is known of '{}'", arguments.name));
    return 0;
  }
  print_with_heading(context.console, history_lines(*events));
  return 0;
}

Result<int> status(Context& context, const Arguments& arguments) {
  const WarningsAsDetails warnings(context.console);
  auto client = context.open_store();
  if (!client) return std::unexpected(std::move(client.error()));
  if (arguments.history) return history(context, *client, arguments);
  const auto lock = client->inspect(arguments.name);
  if (!lock) return std::unexpected(lock.error());
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  context.console.print(text::to_json(*lock, now));
  print_with_heading(context.console, status_lines(*lock, now));
  return 0;
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  add_name(syntax, arguments->name);
  auto& history = syntax.flag("--history", &arguments->history,
                              "Show what happened to the lock, the newest first, where the store "
                              "keeps a trail (redis://…?audit=N)");
  syntax
      .option("--limit", &arguments->limit, "N",
              fmt::format("With --history: at most so many events, 1 to {} (default 20)", max_page))
      .needs(history)
      .between(1, max_page);
  return [arguments](Context& context) { return status(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast status nightly-report", "Who holds it, since when, and who waits?"},
    {"holdfast status --json deploy | jq '.holders[0].host'", "The same for a script."},
    {"holdfast status --history --limit 50 deploy", "What happened to it lately."}};

}  // namespace
}  // namespace status_cmd

extern const Command status_command;
const Command status_command{
    .name = "status",
    .arguments = "NAME",
    .summary = "show who holds a lock and who waits for it",
    .description =
        "Shows the lock as the store sees it: its kind; every holder with program, host, pid, "
        "note, fence, how long it has held the lock and how much of the lease is left; and the "
        "queue, next in line first. A lock that nobody holds is free, whether or not it was ever "
        "used: that is no error, and the exit code is 0. On redlock:// it is shown as a majority "
        "of "
        "the members has it, with a row for each member.\n\n"
        "Times of day are those of this machine, for people to read. Owner tokens are never "
        "shown.",
    .examples = status_cmd::examples,
    .declare = status_cmd::declare};

}  // namespace holdfast::cli
