// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis.hpp"

#include "cli/look/display.hpp"
#include "text/error_codes.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

// A command counts as failed after half a second: a tenth of it usually, or half of it once, is
// too near.
constexpr Duration slow_median = 50ms;
constexpr Duration slow_worst = 250ms;
// As Client::diagnose has it.
constexpr Duration far_apart = 2s;

std::string precise(Duration duration) {
  if (duration < 10ms) return fmt::format("{:.2f} ms", static_cast<double>(duration.count()) / 1e3);
  return readable(duration);
}

bool has(std::span<const Check> checks, Health state) {
  return std::ranges::find(checks, state, &Check::state) != checks.end();
}

}  // namespace

std::string_view to_word(Health state) {
  switch (state) {
    case Health::ok: return "ok";
    case Health::warn: return "warn";
    case Health::fail: break;
  }
  return "fail";
}

Check judge_reach(Duration to_connect) {
  return {"reach", Health::ok, fmt::format("connected in {}", precise(to_connect))};
}

Check judge_speed(std::vector<Duration> round_trips) {
  assert(!round_trips.empty());
  std::ranges::sort(round_trips);
  const auto median = round_trips[round_trips.size() / 2];
  const auto worst = round_trips.back();
  const bool is_slow = median > slow_median || worst > slow_worst;
  return {"speed", is_slow ? Health::warn : Health::ok,
          fmt::format("{} round trips: median {}, worst {}{}", round_trips.size(), precise(median),
                      precise(worst),
                      is_slow ? "; use a ttl of many times that, or a store that is nearer" : "")};
}

Check judge_clock(Duration offset, Duration round_trip) {
  const auto away = std::chrono::abs(offset);
  // Less than what can be told.
  if (away <= std::max<Duration>(round_trip / 2, 1ms)) {
    return {"clock", Health::ok, "the store's clock and ours agree"};
  }
  const bool is_far = away > far_apart;
  return {"clock", is_far ? Health::warn : Health::ok,
          fmt::format("the store's clock is {} {} ours{}", precise(away),
                      offset > Duration::zero() ? "ahead of" : "behind",
                      is_far ? "; set both by NTP" : "")};
}

std::vector<Check> judge_setup(std::span<const std::string> findings) {
  if (findings.empty()) return {{"set-up", Health::ok, "nothing in the set-up endangers locks"}};
  std::vector<Check> checks;
  for (const auto& finding : findings) checks.push_back({"set-up", Health::warn, cleaned(finding)});
  return checks;
}

Check promise(std::string_view scheme) {
  if (scheme == "memory") {
    return {"promise", Health::ok,
            "locks between the threads of one process, gone with it: docs/stores/memory.md"};
  }
  if (scheme == "file") {
    return {"promise", Health::ok,
            "locks between the processes of this machine: docs/stores/file.md"};
  }
  if (scheme == "redis" || scheme == "rediss") {
    return {"promise", Health::ok,
            "locks between all clients of the server, as long as it keeps its data: "
            "docs/stores/redis.md"};
  }
  if (scheme == "redlock") {
    return {"promise", Health::ok,
            "locks that survive the loss of a minority of the members: docs/stores/redlock.md"};
  }
  return {"promise", Health::ok, "see docs/semantics.md"};
}

int exit_of(std::span<const Check> checks, bool strict) {
  if (has(checks, Health::fail)) return text::exit_code(Errc::unavailable);
  return strict && has(checks, Health::warn) ? exit_warnings : 0;
}

boost::json::object to_json(std::span<const Check> checks) {
  boost::json::array out;
  for (const auto& check : checks) {
    out.emplace_back(boost::json::object{
        {"name", check.name}, {"state", to_word(check.state)}, {"message", check.message}});
  }
  return {{"checks", std::move(out)}, {"ok", !has(checks, Health::fail)}};
}

}  // namespace holdfast::cli
