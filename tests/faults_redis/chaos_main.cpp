// SPDX-License-Identifier: Apache-2.0
//
// chaos_redis: a real redis-server, several processes that use it, and everything that can go wrong
// with both, at random and in rounds. Each round has a server and a seed of its own, and its
// history is checked.
#include "faults_redis/chaos.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace {

constexpr int bad_input = 64;
constexpr const char* help =
    "usage: chaos_redis [--seconds N] [--seed N]\n"
    "\n"
    "Rounds of some seconds, as many as begin within N seconds (10). A round prints its seed and\n"
    "what happened; --seed N begins with that one. A round that breaks a promise prints it, and\n"
    "the file of its history for tools/check_history; then the exit code is 1.\n";

std::optional<std::uint64_t> number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return {};
  return std::strtoull(text.c_str(), nullptr, 10);
}

}  // namespace

int main(int count, char** arguments) {
  std::uint64_t seconds = 10;
  std::uint64_t seed = std::random_device{}() % 1'000'000;
  for (int i = 1; i < count; i += 2) {
    const std::string_view option = arguments[i];
    const auto value = i + 1 < count ? number(arguments[i + 1]) : std::nullopt;
    if (option == "--help" || option == "-h") {
      fmt::print("{}", help);
      return 0;
    }
    if (!value || (option != "--seconds" && option != "--seed")) {
      fmt::print(stderr, "chaos_redis: {} is not understood; see --help\n", option);
      return bad_input;
    }
    (option == "--seconds" ? seconds : seed) = *value;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int failed = 0;
  int rounds = 0;
  do {
    ++rounds;
    if (!holdfast::faults::run_round_apart(seed++)) ++failed;
  } while (std::chrono::steady_clock::now() < end);
  fmt::print("{} rounds, {} failed\n", rounds, failed);
  return failed == 0 ? 0 : 1;
}
