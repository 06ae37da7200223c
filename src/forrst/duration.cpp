// SPDX-License-Identifier: Apache-2.0
#include "forrst/duration.hpp"

#include "model/utf8.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;

struct Unit {
  std::string_view word;
  Duration length;
};

constexpr Unit units[] = {
    {"day", std::chrono::hours(24)},
    {"hour", std::chrono::hours(1)},
    {"minute", std::chrono::minutes(1)},
    {"second", std::chrono::seconds(1)},
    {"millisecond", std::chrono::milliseconds(1)},
};
constexpr const Unit& second = units[3];
constexpr const Unit& millisecond = units[4];

constexpr std::int64_t too_small = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t too_large = std::numeric_limits<std::int64_t>::max();

std::unexpected<BadDuration> bad_duration(std::string_view member, std::string message) {
  return std::unexpected(BadDuration{std::string(member), std::move(message)});
}

std::expected<const Unit*, BadDuration> parse_unit(const json::object& object, bool allows_ms) {
  const auto* value = object.if_contains("unit");
  if (value == nullptr) return &second;
  const auto* word = value->if_string();
  if (word == nullptr) return bad_duration("unit", "Duration unit must be a string");
  const std::string_view given(word->data(), word->size());
  for (const auto& each : units) {
    if (given == each.word && (allows_ms || &each != &millisecond)) return &each;
  }
  return bad_duration("unit",
                      fmt::format("Invalid duration unit: {}. Allowed: {}second, minute, hour, day",
                                  model::mended(given, 64), allows_ms ? "millisecond, " : ""));
}

// A number that no integer holds is the largest or the smallest of them: it is refused either way,
// and the right way.
std::optional<std::int64_t> whole_number(std::string_view digits) {
  std::int64_t number = 0;
  const auto* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  if (read.ec == std::errc::invalid_argument || read.ptr != end) return std::nullopt;
  if (read.ec == std::errc::result_out_of_range) return digits[0] == '-' ? too_small : too_large;
  return number;
}

std::optional<std::int64_t> whole_number(double number) {
  constexpr double most = 9007199254740992.0;  // every integer up to it is a double
  if (number > most) return too_large;
  if (number < -most) return too_small;
  if (std::trunc(number) != number) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> whole_number(const json::value& value) {
  if (const auto* number = value.if_int64()) return *number;
  if (const auto* number = value.if_uint64()) {
    return std::in_range<std::int64_t>(*number) ? static_cast<std::int64_t>(*number) : too_large;
  }
  if (const auto* number = value.if_double()) return whole_number(*number);
  if (const auto* text = value.if_string()) {
    return whole_number(std::string_view(text->data(), text->size()));
  }
  return std::nullopt;
}

std::string in_words(Duration duration) {
  const bool is_whole = duration % second.length == Duration::zero();
  const auto& unit = is_whole ? second : millisecond;
  return fmt::format("{} {}s", duration / unit.length, unit.word);
}

std::expected<Duration, BadDuration> measure(std::int64_t number, const Unit& unit,
                                             const DurationRule& rule) {
  if (number <= 0) return bad_duration("value", fmt::format("{} must be positive", rule.what));
  if (number <= rule.most / unit.length) return number * unit.length;
  const bool is_countable = number <= Duration::max() / unit.length;
  return bad_duration("value",
                      fmt::format("{}{} exceeds maximum allowed {}", rule.what,
                                  is_countable ? " of " + in_words(number * unit.length) : "",
                                  in_words(rule.most)));
}

}  // namespace

std::expected<Duration, BadDuration> parse_duration(const json::value& value,
                                                    const DurationRule& rule) {
  const auto* object = value.if_object();
  if (object == nullptr) {
    return bad_duration("", fmt::format("{} must be an object with value and unit", rule.what));
  }
  const auto unit = parse_unit(*object, rule.allows_milliseconds);
  if (!unit) return std::unexpected(unit.error());
  const auto* given = object->if_contains("value");
  if (given == nullptr) return bad_duration("value", "Duration value is required");
  const auto number = whole_number(*given);
  if (!number) return bad_duration("value", "Duration value must be a whole number");
  return measure(*number, **unit, rule);
}

json::object to_json(Duration duration) {
  // Nothing at all would be zero days.
  const Unit* unit = duration == Duration::zero() ? &second : &millisecond;
  for (const auto& each : units) {
    if (duration == Duration::zero() || duration % each.length != Duration::zero()) continue;
    unit = &each;
    break;
  }
  return {{"value", duration / unit->length},
          {"unit", json::string_view(unit->word.data(), unit->word.size())}};
}

}  // namespace holdfast::forrst
