// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/display.hpp"
#include "cli/look/warnings.hpp"
#include "cli/options.hpp"
#include "cli/owner.hpp"
#include "text/json.hpp"

#include <fmt/format.h>

#include <memory>

namespace holdfast::cli {
namespace renew_cmd {
namespace {

struct Arguments {
  std::string name;
  std::string owner;
  std::optional<Duration> ttl;
};

Result<int> renew(Context& context, const Arguments& arguments) {
  const WarningsAsDetails warnings(context.console);
  if (auto owner = owner_in_force(arguments.owner, arguments.name); !owner)
    return std::unexpected(owner.error());
  const auto settings = context.settings();
  if (!settings) return std::unexpected(settings.error());
  auto client = context.open_store();
  if (!client) return std::unexpected(std::move(client.error()));
  auto lease = adopt(*client, arguments.name, arguments.owner);
  if (!lease) return std::unexpected(std::move(lease.error()));
  const auto extended = lease->extend(arguments.ttl.value_or(settings->ttl.value));
  const auto remaining = lease->remaining();
  // Renewed or not, it is not ours to release.
  const auto owner = lease->detach();
  if (!extended) return std::unexpected(extended.error());
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  const auto name = lease->name().str();
  const auto token = owner.str();
  context.console.print(text::to_json(
      text::LeaseFields{
          .name = name, .owner = token, .fence = lease->fence(), .remaining = remaining},
      now));
  context.console.print(fmt::format("{} left", readable(remaining)));
  return 0;
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  add_name(syntax, arguments->name);
  add_owner(syntax, arguments->owner);
  add_duration(syntax, "--ttl", arguments->ttl,
               "The lease lasts at least so long from now (default: ttl of config.yml, or 30s)");
  return [arguments](Context& context) { return renew(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast renew deploy --owner \"$owner\" --ttl 5m", "Five more minutes."}};

}  // namespace
}  // namespace renew_cmd

extern const Command renew_command;
const Command renew_command{
    .name = "renew",
    .arguments = "NAME",
    .summary = "make a lease that acquire took last longer",
    .description =
        "Makes the lease of the owner last at least the ttl from now, and prints what is left of "
        "it. A lease is never made shorter. What is printed is already shortened by what clocks "
        "may differ.\n\n"
        "The exit code is 82 if nobody holds the lock any more and 83 if somebody else does: then "
        "the lease is lost, and the work under it must stop.",
    .examples = renew_cmd::examples,
    .declare = renew_cmd::declare};

}  // namespace holdfast::cli
