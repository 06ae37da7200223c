// SPDX-License-Identifier: Apache-2.0
//
// Time left, as a bar.
#pragma once

#include <holdfast/view.hpp>

#include "cli/console.hpp"

#include <cstddef>
#include <string>

namespace holdfast::cli {

// From 0 (over) to 1 (all of it).
double part_left(Micros left, Micros whole);

// Exactly so many columns, in steps of an eighth of one. Whatever is left can be seen.
std::string bar(double part, std::size_t columns);

// Green, then yellow, then red.
Style bar_style(double part);

}  // namespace holdfast::cli
