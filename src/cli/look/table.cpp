// SPDX-License-Identifier: Apache-2.0
#include "cli/look/table.hpp"

#include "cli/look/display.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace holdfast::cli {
namespace {

constexpr std::string_view column_gap = "  ";

}  // namespace

std::vector<std::size_t> Table::widths(std::optional<std::size_t> width) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto widest = display_width(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[i]));
    widths.push_back(widest);
  }
  if (!width) return widths;
  auto total =
      std::accumulate(widths.begin(), widths.end(), column_gap.size() * (columns_.size() - 1));
  while (total > *width) {
    std::optional<std::size_t> longest;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool may_be_cut = columns_[i].shortest > 0 && widths[i] > columns_[i].shortest;
      if (may_be_cut && (!longest || widths[i] > widths[*longest])) longest = i;
    }
    if (!longest) break;
    --widths[*longest];
    --total;
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += column_gap;
    out += columns_[i].right ? right_aligned(cells[i], widths[i]) : padded(cells[i], widths[i]);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::vector<std::string> Table::lines(std::optional<std::size_t> width) const {
  const auto fitted = widths(width);
  std::vector<std::string> titles;
  titles.reserve(columns_.size());
  for (const auto& column : columns_) titles.push_back(column.title);
  std::vector<std::string> out{line(titles, fitted)};
  for (const auto& row : rows_) out.push_back(line(row, fitted));
  return out;
}

std::optional<std::size_t> terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace holdfast::cli
