// SPDX-License-Identifier: Apache-2.0
//
// A duration in text is one integer and one unit (ms, s, m, h, d), nothing else: "90s", never
// "1m30s", "1.5m" or a bare number whose unit the reader must guess.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::text {

// Errors: bad_input with the text and the rule. Whether the duration suits its use (a ttl, a wait)
// is not decided here; zero is a duration.
Result<Duration> parse_duration(std::string_view text);

// The shortest text that parse_duration reads back as the same; zero is "0s".
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace holdfast::text
