// SPDX-License-Identifier: Apache-2.0
#include "model/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace holdfast::model {
namespace {

constexpr std::uint64_t each_byte(std::uint8_t value) { return 0x0101010101010101ULL * value; }

// Eight bytes at once. A carry or borrow can reach the next byte only from a byte that is itself
// not printable, so the answer about all of them is exact.
bool all_printable(std::uint64_t word) {
  return ((word | (word + each_byte(1)) | (word - each_byte(0x20))) & each_byte(0x80)) == 0;
}

bool printable(char byte) { return byte >= 0x20 && byte <= 0x7e; }

// What a leading byte announces: how long the sequence is, the bits it carries itself, and the
// smallest value that needs that length.
struct Lead {
  std::size_t bytes;
  char32_t bits;
  char32_t least;
};

Lead read_lead(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if ((byte & 0xe0U) == 0xc0) return {2, byte & 0x1fU, 0x80};
  if ((byte & 0xf0U) == 0xe0) return {3, byte & 0x0fU, 0x800};
  if ((byte & 0xf8U) == 0xf0) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

}  // namespace

bool is_printable_ascii(std::string_view text) noexcept {
  while (text.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    if (!all_printable(word)) return false;
    text.remove_prefix(sizeof word);
  }
  return std::all_of(text.begin(), text.end(), printable);
}

CodePoint first_code_point(std::string_view text) noexcept {
  const auto lead = read_lead(static_cast<unsigned char>(text.front()));
  if (lead.bytes == 0 || lead.bytes > text.size()) return {};
  auto value = lead.bits;
  for (const char next : text.substr(1, lead.bytes - 1)) {
    const auto byte = static_cast<unsigned char>(next);
    if ((byte & 0xc0U) != 0x80) return {};
    value = (value << 6U) | (byte & 0x3fU);
  }
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < lead.least || value > 0x10ffff || surrogate) return {};
  return {value, lead.bytes};
}

std::string mended(std::string_view text, std::size_t max_bytes) {
  std::string out;
  while (!text.empty()) {
    const auto point = first_code_point(text);
    const auto bytes = std::max<std::size_t>(point.bytes, 1);
    if (out.size() + bytes > max_bytes) break;
    if (point.bytes == 0)
      out += '?';
    else
      out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace holdfast::model
