// SPDX-License-Identifier: Apache-2.0
//
// Where a text stops being strict JSON. Parsers say that it does, and count bytes in blocks; people
// want the byte. It is slower than a parser, and only asked once one has refused.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::text {

struct JsonError {
  std::size_t position =
      0;                // of the first byte that is wrong; the size of a text that is cut short
  std::string message;  // what is wrong there: "a value is missing"
};

// The first place that breaks a rule of parse_json, or nothing.
std::optional<JsonError> find_flaw(std::string_view json, std::size_t max_depth);

}  // namespace holdfast::text
