// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "text/json.hpp"

#include <fmt/format.h>

#include <memory>

namespace holdfast::cli {
namespace {

struct Arguments {
  std::string name;
};

Result<int> status(Context& context, const Arguments& arguments) {
  auto client = context.open_store();
  if (!client) return std::unexpected(std::move(client.error()));
  const auto lock = client->inspect(arguments.name);
  if (!lock) return std::unexpected(lock.error());
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  context.console.print(text::to_json(*lock, now));
  context.console.print(fmt::format("{}: {} holder(s), {} waiter(s)", arguments.name,
                                    lock->holders.size(), lock->waiters.size()));
  return 0;
}

Action declare(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  add_name(app, arguments->name);
  return [arguments](Context& context) { return status(context, *arguments); };
}

constexpr Example examples[] = {{"holdfast status nightly-report", "Who holds it, and who waits?"}};

}  // namespace

extern const Command status_command;
const Command status_command{.name = "status",
                             .arguments = "NAME",
                             .summary = "show who holds a lock and who waits for it",
                             .description = "Shows the lock as the store sees it.",
                             .examples = examples,
                             .declare = declare};

}  // namespace holdfast::cli
