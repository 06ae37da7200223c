// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::model {

// Whether every byte is printable ASCII (0x20 to 0x7e). Almost every name, owner and note is, so
// callers ask this first.
bool is_printable_ascii(std::string_view text) noexcept;

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0: malformed
};

// The first code point of a text that is not empty. Strict: overlong forms, surrogates and
// anything above U+10FFFF are malformed.
CodePoint first_code_point(std::string_view text) noexcept;

// At most so many bytes of it, cut between two characters; what is none becomes a question mark.
std::string mended(std::string_view text, std::size_t max_bytes);

}  // namespace holdfast::model
