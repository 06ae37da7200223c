// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/display.hpp"
#include "cli/look/gather.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/warnings.hpp"
#include "cli/options.hpp"
#include "cli/watch/live.hpp"
#include "cli/watch/screen.hpp"
#include "text/duration.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>

namespace holdfast::cli {
namespace watch_cmd {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr Duration shortest_every = 100ms;
constexpr Duration longest_every = 1h;

struct Arguments {
  std::string prefix;
  std::optional<Duration> every;
  std::uint64_t count = 0;  // 0: for ever
};

std::string snapshot_line(const LockView& lock) {
  const auto name = cleaned(lock.name);
  const auto queue =
      lock.waiters.empty() ? std::string() : fmt::format(", {} waiting", lock.waiters.size());
  if (lock.holders.empty()) return fmt::format("{}  free{}", name, queue);
  const auto& first = lock.holders.front();
  const auto others =
      lock.holders.size() > 1 ? fmt::format(" +{}", lock.holders.size() - 1) : std::string();
  const auto& last = std::ranges::max(lock.holders, {}, &HolderView::remaining);
  return fmt::format("{}  {}{}, held for {}, {} left{}", name, who_exactly(first.metadata), others,
                     readable(*age(lock)), readable(last.remaining), queue);
}

void print_snapshot(Console& console, const Gathered& gathered) {
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  const auto at = text::format_time(now);
  json::array locks;
  for (const auto& lock : gathered.locks) {
    if (console.json()) locks.emplace_back(text::to_json(lock, now));
    console.print(fmt::format("{}  {}", at, snapshot_line(lock)));
  }
  if (gathered.locks.empty()) console.print(fmt::format("{}  no locks", at));
  console.print({{"at", at}, {"locks", std::move(locks)}});
}

// For pipes and logs.
Result<int> watch_lines(Context& context, const Client& client, const Arguments& arguments,
                        Duration every) {
  auto next = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; arguments.count == 0 || i < arguments.count; ++i) {
    std::this_thread::sleep_until(next);
    next += every;
    const auto gathered = gather(client, arguments.prefix);
    if (gathered) {
      print_snapshot(context.console, *gathered);
    } else {
      context.console.note(fmt::format("trying again: {}", cleaned(gathered.error().message)));
    }
    if (!context.console.finish()) return exit_output_failed;
  }
  return 0;
}

Result<int> watch(Context& context, const Arguments& arguments) {
  const auto every = arguments.every.value_or(1s);
  if (every < shortest_every || every > longest_every) {
    return fail(Errc::bad_input, "--every must be between 100ms and 1h");
  }
  const WarningsAsDetails warnings(context.console);
  const bool live = has_screen() && !context.console.json() && arguments.count == 0;
  std::optional<Signals> signals;
  if (live) signals.emplace();
  auto client = context.open_store();
  if (!client) return std::unexpected(std::move(client.error()));
  if (!live) return watch_lines(context, *client, arguments, every);
  return watch_live(context, *client, {.prefix = arguments.prefix, .every = every}, *signals);
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  syntax.positional("PREFIX", &arguments->prefix, "Only locks whose names begin with this");
  add_duration(syntax, "--every", arguments->every,
               "Ask the store so often, 100ms to 1h (default 1s)");
  syntax
      .option("--count", &arguments->count, "N",
              "Print so many snapshots as lines, also on a terminal, and end")
      .between(1, std::numeric_limits<std::int64_t>::max());
  return [arguments](Context& context) { return watch(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast watch", "All locks, live."},
    {"holdfast watch deploy: --every 250ms", "Some of them, four times a second."},
    {"holdfast watch --json --every 10s >> locks.jsonl", "A record of who held what."}};

}  // namespace
}  // namespace watch_cmd

extern const Command watch_command;
const Command watch_command{
    .name = "watch",
    .arguments = "[PREFIX]",
    .summary = "watch the locks live",
    .description =
        "Shows the locks on the whole terminal: holder, how long it has been held, the time left "
        "of the lease as a bar that shrinks from green over yellow to red, and the queue. The lock "
        "that has been held longest stands first. How long a lease is as a whole is not known to "
        "a store, so a full bar means: the most that was seen of it.\n\n"
        "q, Esc and Ctrl-C quit; the arrows, j, k, the page keys, Home, End, g and G scroll; / "
        "asks for the beginning of the names to show, and Esc shows all of them again. Ctrl-Z and "
        "fg work as usual. If the store does not answer, the last line says why, and it is asked "
        "again.\n\n"
        "Where standard input or output is not a terminal, and with --json or --count, it prints "
        "a snapshot at each interval instead: a line for each lock, or one JSON object.",
    .examples = watch_cmd::examples,
    .declare = watch_cmd::declare};

}  // namespace holdfast::cli
