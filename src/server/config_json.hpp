// SPDX-License-Identifier: Apache-2.0
//
// A value of a configuration file as JSON, for what is handed on to others.
#pragma once

#include <holdfast/error.hpp>

#include "text/config_node.hpp"

#include <boost/json/fwd.hpp>

#include <optional>
#include <string_view>

namespace holdfast::server {

// A finite decimal number, and nothing else in the text.
std::optional<double> parse_number(std::string_view text);

// Words without quotes are null, true, false and numbers where they look like them, as in JSON;
// every other word, and whatever is quoted, is a text. Errors: bad_input, for what is nested too
// deep or has too many values.
Result<boost::json::value> to_json(const text::ConfigNode& node);

}  // namespace holdfast::server
