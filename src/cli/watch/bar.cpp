// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/bar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace holdfast::cli {

double part_left(Micros left, Micros whole) {
  if (whole <= Micros::zero()) return 0;
  const auto part = static_cast<double>(left.count()) / static_cast<double>(whole.count());
  return std::clamp(part, 0.0, 1.0);
}

std::string bar(double part, std::size_t columns) {
  constexpr std::array<std::string_view, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto steps = static_cast<std::size_t>(std::ceil(part * static_cast<double>(columns * 8)));
  const auto full = std::min(steps / 8, columns);
  std::string out;
  for (std::size_t i = 0; i < full; ++i) out += "█";
  if (full == columns) return out;
  out += eighths[steps % 8];
  for (std::size_t i = full + (steps % 8 > 0 ? 1 : 0); i < columns; ++i) out += "░";
  return out;
}

Style bar_style(double part) {
  if (part > 0.5) return Style::green;
  return part > 0.25 ? Style::yellow : Style::red;
}

}  // namespace holdfast::cli
