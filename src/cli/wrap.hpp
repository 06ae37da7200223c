// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::cli {

// Columns that a UTF-8 text takes, one for each character.
std::size_t columns(std::string_view text);

// Paragraphs, separated by empty lines, in lines of at most `width` columns, each behind `indent`
// spaces. A line that begins with a space is kept as it is. Ends with a line end.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 80);

// Two columns: the head, and the text wrapped beside it from column `from` on, or below the head if
// that is too long.
std::string beside(std::string_view head, std::string_view text, std::size_t from);

}  // namespace holdfast::cli
