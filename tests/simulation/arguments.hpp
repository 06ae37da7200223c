// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace holdfast::simulation {

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  unsigned jobs = 1;
  std::string bug;
  bool list_bugs = false;
  bool json = false;
  bool quorum = false;
  bool http = false;
  bool help = false;
};

inline constexpr const char* usage =
    R"(usage: simulate [--quorum | --http] [--seed N] [--seeds N] [--jobs N] [--json] [--bug NAME] [--bugs]

Runs the production client and the production step through bad days.

  --quorum    three or five servers that vote, instead of one
  --http      Holdfast servers and their `http:` stores (in simulate_planted only)
  --seed N    the first seed (1)
  --seeds N   how many, one after the other (1). A single one prints its timeline
  --jobs N    how many processes share the work (1)
  --json      print the history of a single seed as JSON lines, for tools/check_history
  --bug NAME  with this planted bug (in simulate_planted only)
  --bugs      list the planted bugs

The last line is `N seeds, M events, V violations`. Exit status: 0 no violation, 1 violations,
64 a mistake in the arguments.
)";

std::expected<Arguments, std::string> parse_arguments(int count, char** values);

}  // namespace holdfast::simulation
