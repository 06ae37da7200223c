// SPDX-License-Identifier: Apache-2.0
#include "text/utf16.hpp"

#include <fmt/format.h>

namespace holdfast::text {

namespace {

constexpr char16_t first_surrogate = 0xD800;
constexpr char16_t first_low_surrogate = 0xDC00;
constexpr char16_t last_surrogate = 0xDFFF;

bool is_high(char16_t unit) { return unit >= first_surrogate && unit < first_low_surrogate; }
bool is_low(char16_t unit) { return unit >= first_low_surrogate && unit <= last_surrogate; }

void append_utf8(std::string& out, char32_t point) {
  const auto byte = [&](char32_t bits) { out += static_cast<char>(bits); };
  const auto more = [&](unsigned shift) { byte(0x80U | ((point >> shift) & 0x3FU)); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0U | (point >> 6U));
    more(0);
  } else if (point < 0x10000) {
    byte(0xE0U | (point >> 12U));
    more(6);
    more(0);
  } else {
    byte(0xF0U | (point >> 18U));
    more(12);
    more(6);
    more(0);
  }
}

// The letter of a short escape; 0 where there is none.
char short_escape(char16_t unit) {
  switch (unit) {
    case u'"': return '"';
    case u'\\': return '\\';
    case u'\b': return 'b';
    case u'\f': return 'f';
    case u'\n': return 'n';
    case u'\r': return 'r';
    case u'\t': return 't';
    default: return 0;
  }
}

}  // namespace

void append_utf16(std::u16string& out, char32_t point) {
  if (point < 0x10000) {
    out += static_cast<char16_t>(point);
    return;
  }
  out += static_cast<char16_t>(first_surrogate + ((point - 0x10000) >> 10U));
  out += static_cast<char16_t>(first_low_surrogate + ((point - 0x10000) & 0x3FFU));
}

void append_quoted(std::string& out, std::u16string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char16_t unit = text[at];
    const bool is_pair = is_high(unit) && at + 1 < text.size() && is_low(text[at + 1]);
    if (const char letter = short_escape(unit)) {
      out += '\\';
      out += letter;
    } else if (is_pair) {
      ++at;
      append_utf8(out, 0x10000U + ((char32_t{unit} - first_surrogate) << 10U) +
                           (char32_t{text[at]} - first_low_surrogate));
    } else if (unit < 0x20 || is_high(unit) || is_low(unit)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(unit));
    } else {
      append_utf8(out, unit);
    }
  }
  out += '"';
}

}  // namespace holdfast::text
