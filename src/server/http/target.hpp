// SPDX-License-Identifier: Apache-2.0
//
// The path and the query of a request, taken apart and percent-decoded.
#pragma once

#include <holdfast/error.hpp>

#include <boost/container/small_vector.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::server {

// The segments between the slashes, still encoded. "/v1/locks/" has an empty third one.
using Segments = boost::container::small_vector<std::string_view, 8>;
inline constexpr std::size_t max_segments = 8;

// Nothing for a path that does not begin with a slash or has more than max_segments.
std::optional<Segments> split_path(std::string_view path);

// Nothing where a percent sign is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

// Errors: bad_input for a malformed query, and for a name that stands twice.
using Query = std::map<std::string, std::string, std::less<>>;
Result<Query> parse_query(std::string_view query);

}  // namespace holdfast::server
