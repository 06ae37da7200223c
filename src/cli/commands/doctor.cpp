// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/diagnosis.hpp"
#include "cli/look/display.hpp"
#include "cli/look/warnings.hpp"
#include "text/quorum_url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>

namespace holdfast::cli {
namespace doctor_cmd {
namespace {

using Clock = std::chrono::steady_clock;
using Checks = std::vector<Check>;

constexpr int round_trips = 20;
// Looked at, never taken.
constexpr std::string_view probed_name = "holdfast-doctor";

Duration since(Clock::time_point begin) {
  return std::chrono::ceil<Duration>(Clock::now() - begin);
}

Check failed(std::string name, const Error& error) {
  return {std::move(name), Health::fail, cleaned(error.message)};
}

Result<std::vector<Duration>> measure(const Client& client) {
  std::vector<Duration> times;
  for (int i = 0; i < round_trips; ++i) {
    const auto begin = Clock::now();
    if (auto seen = client.inspect(probed_name); !seen) return std::unexpected(seen.error());
    times.push_back(since(begin));
  }
  return times;
}

void examine(const Client& client, Checks& checks) {
  const auto times = measure(client);
  checks.push_back(times ? judge_speed(*times) : failed("speed", times.error()));
  const auto begin = Clock::now();
  const auto offset = client.clock_offset();
  checks.push_back(offset ? judge_clock(*offset, since(begin)) : failed("clock", offset.error()));
  const auto findings = client.diagnose();
  if (!findings) return checks.push_back(failed("set-up", findings.error()));
  std::ranges::move(judge_setup(*findings), std::back_inserter(checks));
}

void print(Console& console, const Checks& checks, std::string_view store) {
  console.print(to_json(checks));
  console.print(console.styled(Style::bold, cleaned(store)));
  for (const auto& check : checks) {
    const auto style = check.state == Health::ok     ? Style::green
                       : check.state == Health::warn ? Style::yellow
                                                     : Style::red;
    console.print(fmt::format("{}  {}  {}", console.styled(style, padded(to_word(check.state), 4)),
                              padded(check.name, 7), check.message));
  }
}

bool is_unreachable(Errc code) {
  return code == Errc::unavailable || code == Errc::quorum_not_reached;
}

std::optional<std::string> scheme_of(std::string_view url) {
  if (text::is_quorum_url(url)) return "redlock";
  auto parsed = text::parse_store_url(url);
  return parsed ? std::optional(std::move(parsed->scheme)) : std::nullopt;
}

Result<int> doctor(Context& context, bool strict) {
  const WarningsAsDetails warnings(context.console);
  const auto settings = context.settings();
  if (!settings) return std::unexpected(settings.error());
  const auto& url = settings->store.value;
  Checks checks;
  const auto begin = Clock::now();
  auto client = context.open_store();
  if (client) {
    checks.push_back(judge_reach(since(begin)));
    examine(*client, checks);
  } else if (is_unreachable(client.error().code)) {
    checks.push_back(failed("reach", client.error()));
  } else {
    return std::unexpected(std::move(client.error()));
  }
  if (const auto scheme = scheme_of(url)) checks.push_back(promise(*scheme));
  print(context.console, checks, text::masked(url));
  return exit_of(checks, strict);
}

Action declare(Syntax& syntax) {
  const auto strict = std::make_shared<bool>(false);
  syntax.flag("--strict", strict.get(),
              fmt::format("Exit with {} if there is a warning", exit_warnings));
  return [strict](Context& context) { return doctor(context, *strict); };
}

constexpr Example examples[] = {
    {"holdfast doctor", "Is the store in force fit for locks?"},
    {"holdfast doctor --store redis://10.0.0.1 --strict", "For a deployment that must be clean."}};

}  // namespace
}  // namespace doctor_cmd

extern const Command doctor_command;
const Command doctor_command{
    .name = "doctor",
    .arguments = "",
    .summary = "check that the store can be reached and is safe for locks",
    .description =
        "Looks at the store in force and says ok, warn or fail of each: whether it can be reached, "
        "and how long connecting took (reach); the median and the worst of 20 round trips "
        "(speed); how far its clock is from ours (clock); whether its configuration endangers "
        "locks (set-up); and what such a store promises, with the page to read (promise). It "
        "changes nothing.\n\n"
        "The exit code is 0 if nothing failed and 69 if the store cannot be reached. Warnings do "
        "not count, but with --strict the exit code is then 88.",
    .examples = doctor_cmd::examples,
    .declare = doctor_cmd::declare};

}  // namespace holdfast::cli
