// SPDX-License-Identifier: Apache-2.0
#include "text/canonical_json.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace holdfast::text {

namespace {

// digits * 10^(point - digits.size()): "125" and 1 are 1.25.
struct Decimal {
  std::string digits;
  int point = 0;
};

Decimal shortest(double positive) {
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), positive,
                                     std::chars_format::scientific);
  const std::string_view all(text.data(), written.ptr);
  const auto e = all.find('e');
  int exponent = 0;
  const auto sign = all[e + 1] == '+' ? 1U : 0U;
  std::from_chars(all.data() + e + 1 + sign, all.data() + all.size(), exponent);
  Decimal decimal{.digits = std::string(all.substr(0, e)), .point = exponent + 1};
  if (decimal.digits.size() > 1) decimal.digits.erase(1, 1);  // the point
  return decimal;
}

std::string print(const Decimal& decimal) {
  const auto& [digits, point] = decimal;
  const int count = static_cast<int>(digits.size());
  if (point > 21 || point <= -6) {
    const std::string_view rest = std::string_view(digits).substr(1);
    return fmt::format("{}{}{}e{:+}", digits[0], rest.empty() ? "" : ".", rest, point - 1);
  }
  if (point <= 0)
    return fmt::format("0.{}{}", std::string(static_cast<unsigned>(-point), '0'), digits);
  if (point >= count) return digits + std::string(static_cast<unsigned>(point - count), '0');
  const auto whole = static_cast<unsigned>(point);
  return fmt::format("{}.{}", digits.substr(0, whole), digits.substr(whole));
}

}  // namespace

std::string js_number(double number) {
  if (number == 0) return "0";
  const std::string text = print(shortest(std::abs(number)));
  return number < 0 ? "-" + text : text;
}

}  // namespace holdfast::text
