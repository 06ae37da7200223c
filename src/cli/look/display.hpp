// SPDX-License-Identifier: Apache-2.0
//
// Text as a terminal shows it. What a store says of holders was written by others: nothing of it
// may move the cursor, change colours or hide what stands beside it.
#pragma once

#include <holdfast/view.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::cli {

// The text with everything that a terminal would act on, and every byte that is not UTF-8, spelt
// out: "\x1b", "\u{202e}". Whatever else it says is left as it is.
std::string cleaned(std::string_view text);

// How many columns a cleaned text takes. Where terminals disagree, rather too many.
std::size_t display_width(std::string_view text);

// At most so many columns of a cleaned text; "…" stands for what was cut off.
std::string cut(std::string_view text, std::size_t columns);

// The text, cut or filled with spaces to exactly so many columns.
std::string padded(std::string_view text, std::size_t columns);
std::string right_aligned(std::string_view text, std::size_t columns);

// A duration for people, in two units at most: "250ms", "9.7s", "42s", "2m 5s", "3h 2m", "2d 4h".
// Rounded down; what is negative is "0s".
std::string readable(Micros duration);

}  // namespace holdfast::cli
