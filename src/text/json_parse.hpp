// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "text/json_flaw.hpp"

#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>

#include <expected>
#include <string_view>

namespace holdfast::text {

inline constexpr std::size_t max_json_depth = 16;

// Strict JSON: one value and nothing behind it, UTF-8, at most max_json_depth deep, every number
// finite, and no key twice in one object, because two readers would disagree about which one
// counts. Errors: bad_input with the place and the rule.
Result<boost::json::value> parse_json(std::string_view text, boost::json::storage_ptr memory = {});

// The same rules with another depth, and the error with the byte that it is about.
std::expected<boost::json::value, JsonError> parse_json_at(std::string_view text,
                                                           std::size_t max_depth,
                                                           boost::json::storage_ptr memory = {});

}  // namespace holdfast::text
