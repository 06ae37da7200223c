// SPDX-License-Identifier: Apache-2.0
//
// Classes of ASCII characters; unlike those of <cctype> they ask no locale, and take a plain char.
#pragma once

namespace holdfast::text {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter_or_digit(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }
constexpr bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace holdfast::text
