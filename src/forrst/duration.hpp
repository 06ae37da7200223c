// SPDX-License-Identifier: Apache-2.0
//
// A duration as the protocol has it: {"value": 30, "unit": "second"}.
#pragma once

#include <holdfast/options.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <expected>
#include <string>

namespace holdfast::forrst {

struct DurationRule {
  std::string what;  // "Lock TTL": the subject of messages
  Duration most{};
  bool allows_milliseconds = false;
};

struct BadDuration {
  std::string member;   // "value", "unit", or empty for the whole
  std::string message;  // "Invalid duration unit: seconds. Allowed: second, minute, hour, day"
};

// An object with `value`, a whole number or a text of one, and `unit`, which is `second` unless it
// says otherwise. Zero and less are refused, and what is longer than the rule allows; nothing is
// rounded, and nothing overflows.
std::expected<Duration, BadDuration> parse_duration(const boost::json::value& value,
                                                    const DurationRule& rule);

// In the largest unit that says it exactly, and milliseconds where none does.
boost::json::object to_json(Duration duration);

}  // namespace holdfast::forrst
