// SPDX-License-Identifier: Apache-2.0
#include "cli/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace holdfast::cli {
namespace {

// No command is longer, and the distance costs the product of both lengths.
constexpr std::size_t longest_word = 32;

// How many letters have to be put in, taken out or replaced.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  if (word.empty() || word.size() > longest_word) return "";
  const std::string* nearest = nullptr;
  // Half of a short word may not be wrong.
  auto least = std::min<std::size_t>(3, (word.size() + 1) / 2);
  for (const auto& candidate : known) {
    // Whoever stops in the middle of a word got no letter wrong.
    const bool is_begun = word.size() > 1 && candidate.starts_with(word);
    const auto away = is_begun ? 1 : distance(word, candidate);
    if (away >= least) continue;
    least = away;
    nearest = &candidate;
  }
  return nearest == nullptr ? "" : fmt::format("; did you mean '{}'?", *nearest);
}

}  // namespace holdfast::cli
