// SPDX-License-Identifier: Apache-2.0
#include "simulation/arguments.hpp"

#include <charconv>
#include <string_view>

namespace holdfast::simulation {

namespace {

constexpr std::uint64_t most_jobs = 256;

bool parse_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

}  // namespace

std::expected<Arguments, std::string> parse_arguments(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view option = values[i];
    if (option == "--help")
      arguments.help = true;
    else if (option == "--bugs")
      arguments.list_bugs = true;
    else if (option == "--json")
      arguments.json = true;
    else if (option == "--quorum")
      arguments.quorum = true;
    else if (option == "--http")
      arguments.http = true;
    else {
      if (option != "--seed" && option != "--seeds" && option != "--jobs" && option != "--bug") {
        return std::unexpected(std::string(option) + ": unknown option");
      }
      if (++i == count) return std::unexpected(std::string(option) + ": needs a value");
      const std::string_view value = values[i];
      if (option == "--bug") {
        arguments.bug = value;
        continue;
      }
      std::uint64_t number = 0;
      if (!parse_number(value, number)) {
        return std::unexpected(std::string(option) + ": must be a number");
      }
      if (option == "--seed")
        arguments.seed = number;
      else if (number == 0)
        return std::unexpected(std::string(option) + ": must be at least 1");
      else if (option == "--seeds")
        arguments.seeds = number;
      else if (number > most_jobs)
        return std::unexpected("--jobs: must be at most 256");
      else
        arguments.jobs = static_cast<unsigned>(number);
    }
  }
  return arguments;
}

}  // namespace holdfast::simulation
