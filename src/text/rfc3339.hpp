// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/wall_time.hpp"

#include <optional>
#include <string_view>

namespace holdfast::text {

// "2027-01-31T12:00:00Z", with a fraction of a second or an offset such as +01:00 if need be.
// Strict: T and Z are capitals, every field has its digits, and the day exists. Leap seconds do
// not. What is finer than a microsecond is cut off.
std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace holdfast::text
