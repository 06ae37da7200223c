// SPDX-License-Identifier: Apache-2.0
//
// Which resource a request is about.
#pragma once

#include <holdfast/error.hpp>

#include "net/http/message.hpp"

#include <string>
#include <string_view>

namespace holdfast::guard {

inline constexpr std::size_t max_prefix_segments = 16;

struct ResourceRule {
  enum class By : std::uint8_t { path, host, header, path_prefix };
  By by = By::path;
  std::string header{};      // its name
  std::size_t segments = 0;  // of the path
};

// "path", "host", "header:NAME" or "path-prefix:N". Errors: bad_input.
Result<ResourceRule> parse_resource_rule(std::string_view text);

// The name under which the store remembers it. Two spellings of one path are one resource:
// unreserved characters are decoded, and the digits of other escapes are in upper case. Errors:
// bad_input.
Result<std::string> resource_of(const ResourceRule& rule, const net::http::Request& request);

}  // namespace holdfast::guard
