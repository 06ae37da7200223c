// SPDX-License-Identifier: Apache-2.0
#include "text/base64.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::text {

namespace {

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_letter = 64;

constexpr std::array<std::uint8_t, 256> values_of_letters() {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_letter);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    values[static_cast<unsigned char>(letters[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr auto values = values_of_letters();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
}

// Four letters as 24 bits. Nothing if one of the first `count` is none.
std::optional<std::uint32_t> bits_of(std::string_view four, std::size_t count) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto value = i < count ? values[static_cast<unsigned char>(four[i])] : std::uint8_t{0};
    if (value == no_letter) return std::nullopt;
    bits = bits << 6U | value;
  }
  return bits;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto bits =
        byte_at(bytes, at) << 16U | byte_at(bytes, at + 1) << 8U | byte_at(bytes, at + 2);
    out += letters[bits >> 18U];
    out += letters[bits >> 12U & 63U];
    out += at + 1 < bytes.size() ? letters[bits >> 6U & 63U] : '=';
    out += at + 2 < bytes.size() ? letters[bits & 63U] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  while (!text.empty()) {
    const auto four = text.substr(0, 4);
    text.remove_prefix(4);
    // Only the last four may end in padding.
    const std::size_t padding = !text.empty() || four[3] != '=' ? 0 : four[2] == '=' ? 2 : 1;
    const auto bits = bits_of(four, 4 - padding);
    if (!bits) return std::nullopt;
    // One text for each sequence of bytes: what padding leaves over must be zero.
    if ((*bits & ((1U << 8U * padding) - 1U)) != 0) return std::nullopt;
    out += static_cast<char>(*bits >> 16U);
    if (padding < 2) out += static_cast<char>(*bits >> 8U);
    if (padding < 1) out += static_cast<char>(*bits);
  }
  return out;
}

}  // namespace holdfast::text
