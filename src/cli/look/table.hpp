// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

struct Column {
  std::string title;
  std::size_t shortest = 0;  // may be cut to so many columns; 0: never cut
  bool right = false;        // numbers and durations
};

// Cells are cleaned texts, one for each column.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // The titles and the rows, aligned. With a width, the longest of the columns that may be cut are
  // cut until a line fits, if that can be.
  std::vector<std::string> lines(std::optional<std::size_t> width = std::nullopt) const;

 private:
  std::vector<std::size_t> widths(std::optional<std::size_t> width) const;
  std::string line(const std::vector<std::string>& cells,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The columns of the terminal on standard output, or nothing if it is none.
std::optional<std::size_t> terminal_columns();

}  // namespace holdfast::cli
