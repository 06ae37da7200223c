// SPDX-License-Identifier: Apache-2.0
#include "cli/look/display.hpp"

#include "model/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace holdfast::cli {
namespace {

using model::first_code_point;

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t size>
constexpr bool contains(const std::array<Range, size>& sorted, char32_t value) {
  const auto after = std::ranges::upper_bound(sorted, value, {}, &Range::first);
  return after != sorted.begin() && value <= std::prev(after)->last;
}

// Controls, line separators, and whatever changes the direction of what follows.
constexpr std::array<Range, 9> unsafe{{{0x00, 0x1f},
                                       {0x7f, 0x9f},
                                       {0x061c, 0x061c},
                                       {0x200e, 0x200f},
                                       {0x2028, 0x202e},
                                       {0x2066, 0x206f},
                                       {0xfeff, 0xfeff},
                                       {0xfff9, 0xfffb},
                                       {0xe0000, 0xe007f}}};

// Marks that stand on the character before them.
constexpr std::array<Range, 14> narrowest{{{0x0300, 0x036f},
                                           {0x0483, 0x0489},
                                           {0x0591, 0x05bd},
                                           {0x0610, 0x061a},
                                           {0x064b, 0x065f},
                                           {0x0e34, 0x0e3a},
                                           {0x0e47, 0x0e4e},
                                           {0x1ab0, 0x1aff},
                                           {0x1dc0, 0x1dff},
                                           {0x200b, 0x200d},
                                           {0x20d0, 0x20ff},
                                           {0xfe00, 0xfe0f},
                                           {0xfe20, 0xfe2f},
                                           {0xe0100, 0xe01ef}}};

// Two columns each: the scripts of East Asia, and emoji.
constexpr std::array<Range, 22> wide{
    {{0x1100, 0x115f},   {0x231a, 0x231b},  {0x2329, 0x232a}, {0x23e9, 0x23f3}, {0x25fd, 0x25fe},
     {0x2614, 0x2615},   {0x2648, 0x2653},  {0x267f, 0x26ff}, {0x2705, 0x2728}, {0x274c, 0x2757},
     {0x2795, 0x27bf},   {0x2b1b, 0x2b55},  {0x2e80, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3},
     {0xf900, 0xfaff},   {0xfe30, 0xfe6f},  {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f004, 0x1f0cf},
     {0x1f18e, 0x1faff}, {0x20000, 0x3fffd}}};

std::size_t width_of(char32_t value) {
  if (contains(narrowest, value)) return 0;
  return contains(wide, value) ? 2 : 1;
}

// Calls take(bytes, columns) for each character until it returns false.
template <typename Take>
void for_each_character(std::string_view text, Take take) {
  while (!text.empty()) {
    const auto point = first_code_point(text);
    const auto bytes = std::max<std::size_t>(point.bytes, 1);
    if (!take(text.substr(0, bytes), point.bytes == 0 ? 1 : width_of(point.value))) return;
    text.remove_prefix(bytes);
  }
}

}  // namespace

std::string cleaned(std::string_view text) {
  if (model::is_printable_ascii(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const auto point = first_code_point(text);
    const auto bytes = std::max<std::size_t>(point.bytes, 1);
    const auto value = static_cast<std::uint32_t>(point.value);
    if (point.bytes == 0 || value < 0x80) {
      const auto byte = static_cast<unsigned char>(text.front());
      const bool shown = byte >= 0x20 && byte < 0x7f;
      shown ? out += text.front() : out += fmt::format("\\x{:02x}", byte);
    } else if (contains(unsafe, point.value)) {
      fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", value);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  for_each_character(text, [&](std::string_view, std::size_t width) {
    columns += width;
    return true;
  });
  return columns;
}

std::string cut(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::string out;
  std::size_t used = 1;  // for the "…"
  for_each_character(text, [&](std::string_view bytes, std::size_t width) {
    used += width;
    if (used > columns) return false;
    out += bytes;
    return true;
  });
  return out + "…";
}

std::string padded(std::string_view text, std::size_t columns) {
  auto out = cut(text, columns);
  out.append(columns - display_width(out), ' ');
  return out;
}

std::string right_aligned(std::string_view text, std::size_t columns) {
  auto out = cut(text, columns);
  out.insert(0, columns - display_width(out), ' ');
  return out;
}

std::string readable(Micros duration) {
  using namespace std::chrono;
  const auto ms = floor<milliseconds>(std::max(duration, Micros::zero())).count();
  if (ms == 0) return "0s";
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (ms < 10'000) return fmt::format("{}.{}s", ms / 1000, ms % 1000 / 100);
  const auto s = ms / 1000;
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m {}s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}h {}m", s / 3600, s / 60 % 60);
  return fmt::format("{}d {}h", s / 86400, s / 3600 % 24);
}

}  // namespace holdfast::cli
