// SPDX-License-Identifier: Apache-2.0
//
// Texts as JavaScript has them: UTF-16 code units, of which a surrogate may stand alone.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::text {

void append_utf16(std::u16string& out, char32_t point);

// As a text of JSON in UTF-8, with the escapes it needs and no others; a lone surrogate has none
// but its escape.
void append_quoted(std::string& out, std::u16string_view text);

}  // namespace holdfast::text
