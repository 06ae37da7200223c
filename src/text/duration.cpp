// SPDX-License-Identifier: Apache-2.0
#include "text/duration.hpp"

#include "text/ascii.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace holdfast::text {
namespace {

struct Unit {
  std::string_view word;
  std::int64_t ms;
};

constexpr std::array<Unit, 5> units{
    {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};

constexpr std::string_view duration_rule =
    "write one integer and one unit (ms, s, m, h, d), such as 90s";

std::unexpected<Error> refuse_duration(std::string_view text, std::string_view reason) {
  return fail(Errc::bad_input,
              fmt::format("duration {} {}; {}", quoted(text), reason, duration_rule));
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  if (text.empty()) return refuse_duration(text, "is empty");
  // from_chars would take a minus.
  if (!is_digit(text.front())) return refuse_duration(text, "does not begin with a digit");
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto word = text.substr(static_cast<std::size_t>(end - text.data()));
  if (word.empty()) return refuse_duration(text, "has no unit");
  const auto* const unit = std::ranges::find(units, word, &Unit::word);
  if (unit == units.end())
    return refuse_duration(text, "has more than an integer and a known unit");
  std::int64_t us = 0;
  if (failure != std::errc() || __builtin_mul_overflow(number, unit->ms * 1000, &us)) {
    return refuse_duration(text, "is too long");
  }
  return Duration(us);
}

std::string format_duration(std::chrono::milliseconds duration) {
  if (duration.count() == 0) return "0s";
  const auto unit = std::find_if(units.rbegin(), units.rend(), [duration](const Unit& candidate) {
    return duration.count() % candidate.ms == 0;
  });
  return fmt::format("{}{}", duration.count() / unit->ms, unit->word);
}

}  // namespace holdfast::text
