// SPDX-License-Identifier: Apache-2.0
//
// What `doctor` thinks of what it measured. Nothing here talks to a store.
#pragma once

#include <holdfast/options.hpp>

#include <boost/json/object.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

// How doctor --strict ends if there are warnings. Neither in the error table, nor a code that
// shells use.
inline constexpr int exit_warnings = 88;

enum class Health { ok, warn, fail };

struct Check {
  std::string name;  // "reach", "speed", "clock", "set-up", "promise"
  Health state = Health::ok;
  std::string message;
};

std::string_view to_word(Health state);

Check judge_reach(Duration to_connect);
// At least one round trip.
Check judge_speed(std::vector<Duration> round_trips);
// The offset is known to half a round trip.
Check judge_clock(Duration offset, Duration round_trip);
// A warning for each sentence, or one check that says that all is well.
std::vector<Check> judge_setup(std::span<const std::string> findings);
// What a store of that scheme promises, and where to read on.
Check promise(std::string_view scheme);

// The exit code: 69 if something failed, exit_warnings if warnings count, else 0.
int exit_of(std::span<const Check> checks, bool strict);

// {"checks": […], "ok": …}
boost::json::object to_json(std::span<const Check> checks);

}  // namespace holdfast::cli
