// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/watch/view.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::cli {

struct Size {
  std::size_t rows = 24;
  std::size_t columns = 80;
  friend bool operator==(const Size&, const Size&) = default;
};

// How many locks fit on a screen of that size.
std::size_t rows_for_locks(Size size);

// The screen, line by line: at most `rows` lines of at most `columns` columns. Between two looks at
// the store, leases grow shorter by the clock.
std::vector<std::string> frame_lines(const View& view, Size size, text::WallTime now);

// The same as bytes for a terminal whose cursor may be anywhere: nothing of what was there remains.
std::string render(const View& view, Size size, text::WallTime now);

}  // namespace holdfast::cli
