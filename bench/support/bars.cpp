// SPDX-License-Identifier: Apache-2.0
#include "support/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace holdfast::bench {

namespace {

void print_bar(std::string_view name, double measured, std::string_view op, double bound) {
  const bool met = op == ">=" ? measured >= bound : measured <= bound;
  fmt::print("BAR {} {} {} {} {}\n", name, readable(measured), op, readable(bound),
             met ? "ok" : "short");
  std::fflush(stdout);
}

}  // namespace

std::string readable(double number) {
  if (std::abs(number) >= 1000) return fmt::format("{:.0f}", number);
  if (std::abs(number) >= 100) return fmt::format("{:.1f}", number);
  return fmt::format("{:.4g}", number);
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) give_up("nothing was measured");
  std::sort(values.begin(), values.end());
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double rest = position - static_cast<double>(below);
  return values[below] + rest * (values[above] - values[below]);
}

double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

void print_row(std::string_view label, const std::vector<double>& repeats, std::string_view unit,
               std::string_view more) {
  const auto [least, most] = std::minmax_element(repeats.begin(), repeats.end());
  fmt::print("  {:<52} {:>9} {:<8} {} to {} in {} repeats{}{}\n", label, readable(median(repeats)),
             unit, readable(*least), readable(*most), repeats.size(), more.empty() ? "" : "; ",
             more);
  std::fflush(stdout);
}

void print_note(std::string_view text) {
  fmt::print("  {}\n", text);
  std::fflush(stdout);
}

void bar_at_least(std::string_view name, double measured, double bound) {
  print_bar(name, measured, ">=", bound);
}

void bar_at_most(std::string_view name, double measured, double bound) {
  print_bar(name, measured, "<=", bound);
}

void give_up(std::string_view why) {
  fmt::print(stderr, "benchmark: {}\n", why);
  std::_Exit(1);
}

}  // namespace holdfast::bench
