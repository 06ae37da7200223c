// SPDX-License-Identifier: Apache-2.0
//
// A workflow's JSON as n8n writes it. What is read and written again changes neither the order of
// keys nor a value.
#pragma once

#include <holdfast/error.hpp>

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace holdfast::n8n {

// Errors: bad_input with the place, "flow.json:3:17: …"; limit_reached for what is too long.
Result<boost::json::value> parse_json(std::string_view text, std::string_view file_name);

// Indented by two spaces, with a line end behind it.
std::string to_text(const boost::json::value& value);

}  // namespace holdfast::n8n
