// SPDX-License-Identifier: Apache-2.0
//
// A fence as a caller writes it. Every door reads it here, so that all of them take the same
// numbers and refuse the others with the same words.
#pragma once

#include <holdfast/names.hpp>

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::text {

inline constexpr Fence max_fence = INT64_MAX;
inline constexpr std::string_view fence_rule = "must be an integer from 1 to 9223372036854775807";

// Nothing for what breaks the rule.
std::optional<Fence> parse_fence(std::string_view digits);
std::optional<Fence> fence_in(const boost::json::value& value);

}  // namespace holdfast::text
