// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/gather.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/table.hpp"
#include "cli/look/warnings.hpp"
#include "text/json.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

namespace holdfast::cli {
namespace list_cmd {
namespace {

namespace json = boost::json;

struct Arguments {
  std::string prefix;
  std::size_t limit = 100;
  std::size_t page = 1;
};

// One page of what was gathered.
struct Page {
  std::span<const LockView> locks;
  std::size_t number = 1;
  bool is_last = true;
};

Page choose(std::span<const LockView> all, const Arguments& arguments) {
  const auto begin = std::min(all.size(), (arguments.page - 1) * arguments.limit);
  const auto count = std::min(all.size() - begin, arguments.limit);
  return {.locks = all.subspan(begin, count),
          .number = arguments.page,
          .is_last = begin + count == all.size()};
}

json::object to_json(const Page& page, std::size_t total) {
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  json::array locks;
  for (const auto& lock : page.locks) locks.emplace_back(text::to_json(lock, now));
  return {{"locks", std::move(locks)},
          {"total", total},
          {"page", page.number},
          {"next", page.is_last ? json::value(nullptr) : json::value(page.number + 1)}};
}

void print(Console& console, const Page& page, std::size_t total) {
  if (page.locks.empty()) {
    return console.note(total == 0 ? "no locks are held or waited for"
                                   : fmt::format("page {} is behind the last one", page.number));
  }
  const auto lines = list_lines(page.locks, terminal_columns());
  console.print(console.styled(Style::bold, lines.front()));
  for (const auto& line : std::span(lines).subspan(1)) console.print(line);
  if (page.is_last) return;
  console.note(fmt::format("{} of {} locks; the next ones: --page {}", page.locks.size(), total,
                           page.number + 1));
}

Result<int> list(Context& context, const Arguments& arguments) {
  const WarningsAsDetails warnings(context.console);
  auto client = context.open_store();
  if (!client) return std::unexpected(std::move(client.error()));
  const auto gathered = gather(*client, arguments.prefix);
  if (!gathered) return std::unexpected(gathered.error());
  if (!gathered->is_complete) {
    context.console.note(
        fmt::format("the store has more than {} such locks: these are not "
                    "all; give a longer PREFIX",
                    max_listed));
  }
  const auto page = choose(gathered->locks, arguments);
  if (context.console.json()) {
    context.console.print(to_json(page, gathered->locks.size()));
  } else {
    print(context.console, page, gathered->locks.size());
  }
  return 0;
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.positional("PREFIX", &arguments->prefix, "Only locks whose names begin with this");
  syntax.option("--limit", &arguments->limit, "N", "Locks on one page (default 100)")
      .between(1, max_listed);
  syntax.option("--page", &arguments->page, "K", "Which page, from 1 (default 1)")
      .between(1, max_listed);
  return [arguments](Context& context) { return list(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast list", "Everything that is held, the oldest first."},
    {"holdfast list deploy:", "Only names that begin with deploy:."},
    {"holdfast list --json --limit 1000 | jq -r '.locks[].name'", "The names, for a script."}};

}  // namespace
}  // namespace list_cmd

extern const Command list_command;
const Command list_command{
    .name = "list",
    .arguments = "[PREFIX]",
    .summary = "list the locks that are held or waited for",
    .description =
        "Lists every lock that somebody holds or waits for, with its holder, how long it has been "
        "held, how much of the lease is left, and how many wait. The lock that has been held "
        "longest comes first. With several holders, HELD is that of the first and LEFT that of "
        "the last.\n\n"
        "On a terminal the columns are fitted to its width; elsewhere nothing is cut. If there is "
        "no such lock, a note on standard error says so, and the exit code is 0.",
    .examples = list_cmd::examples,
    .declare = list_cmd::declare};

}  // namespace holdfast::cli
