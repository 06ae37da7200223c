// SPDX-License-Identifier: Apache-2.0
#include "history/flat_json.hpp"

#include <limits>

namespace holdfast::history {

namespace {

constexpr std::size_t most_fields = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& into, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { into += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | code >> 6U);
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | code >> 12U);
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | code >> 18U);
    put(0x80U | (code >> 12U & 0x3FU));
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

}  // namespace

std::expected<const std::vector<FlatField>*, FlatError> FlatJson::parse(std::string_view line) {
  line_ = line;
  next_ = 0;
  fields_.clear();
  // Texts are pointed at, so they must not move when there is one more of them.
  unescaped_.resize(2 * most_fields);
  unescaped_count_ = 0;
  error_ = {};
  if (!parse_fields()) return std::unexpected(std::move(error_));
  skip_blanks();
  if (next_ == line_.size()) return &fields_;
  fail("nothing may follow the object");
  return std::unexpected(std::move(error_));
}

bool FlatJson::fail(std::string_view why) {
  if (error_.why.empty()) error_.why = why;
  return false;
}

void FlatJson::skip_blanks() {
  while (at(' ') || at('\t') || at('\r')) ++next_;
}

bool FlatJson::parse_fields() {
  skip_blanks();
  if (!at('{')) return fail("every line must be one JSON object");
  ++next_;
  skip_blanks();
  if (at('}')) return ++next_, true;
  while (true) {
    if (!parse_field()) return false;
    skip_blanks();
    if (at('}')) return ++next_, true;
    if (!at(',')) return fail("a field must be followed by a comma or the end of the object");
    ++next_;
    skip_blanks();
  }
}

bool FlatJson::parse_field() {
  if (fields_.size() == most_fields) return fail("there are too many fields");
  FlatField field;
  if (!at('"')) return fail("the name of a field must be a string");
  if (!parse_string(field.name)) return false;
  skip_blanks();
  if (!at(':')) return fail("the name of a field must be followed by a colon");
  ++next_;
  skip_blanks();
  if (!parse_value(field.value)) {
    error_.field = field.name;
    return false;
  }
  fields_.push_back(field);
  return true;
}

bool FlatJson::parse_value(FlatValue& value) {
  if (next_ == line_.size()) return fail("the line ends before the value");
  switch (line_[next_]) {
    case '"': value.kind = FlatValue::Kind::text; return parse_string(value.text);
    case 't': value = {.kind = FlatValue::Kind::boolean, .truth = true}; return parse_word("true");
    case 'f': value.kind = FlatValue::Kind::boolean; return parse_word("false");
    case 'n': return parse_word("null");
    case '{':
    case '[': return fail("must not be an object or a list");
    default: return parse_number(value);
  }
}

bool FlatJson::parse_word(std::string_view word) {
  if (line_.substr(next_, word.size()) != word) return fail("is not a JSON value");
  next_ += word.size();
  return true;
}

bool FlatJson::parse_number(FlatValue& value) {
  value.kind = FlatValue::Kind::whole_number;
  value.negative = at('-');
  if (value.negative) ++next_;
  if (next_ == line_.size() || !is_digit(line_[next_])) return fail("is not a JSON value");
  const bool leads_with_zero = line_[next_] == '0';
  const std::size_t first = next_;
  while (next_ < line_.size() && is_digit(line_[next_])) {
    const auto digit = static_cast<std::uint64_t>(line_[next_++] - '0');
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    if (value.magnitude > (most - digit) / 10) return fail("is too large");
    value.magnitude = value.magnitude * 10 + digit;
  }
  if (leads_with_zero && next_ - first > 1) return fail("must not begin with a zero");
  if (at('.') || at('e') || at('E')) return fail("must be a whole number");
  return true;
}

bool FlatJson::parse_string(std::string_view& text) {
  const std::size_t begin = ++next_;
  while (next_ < line_.size() && line_[next_] != '"' && line_[next_] != '\\') {
    if (static_cast<unsigned char>(line_[next_]) < 0x20)
      return fail("has a bare control character");
    ++next_;
  }
  if (at('"')) {
    text = line_.substr(begin, next_++ - begin);
    return true;
  }
  std::string& plain = unescaped_[unescaped_count_++];
  plain = line_.substr(begin, next_ - begin);
  while (next_ < line_.size()) {
    const char c = line_[next_++];
    if (c == '"') return text = plain, true;
    if (static_cast<unsigned char>(c) < 0x20) return fail("has a bare control character");
    if (c != '\\') {
      plain += c;
    } else if (!parse_escape(plain)) {
      return false;
    }
  }
  return fail("the line ends inside a string");
}

bool FlatJson::parse_escape(std::string& into) {
  if (next_ == line_.size()) return fail("the line ends inside a string");
  const char c = line_[next_++];
  constexpr std::string_view escapes = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  if (const auto known = escapes.find(c); known != std::string_view::npos) {
    into += meanings[known];
    return true;
  }
  std::uint32_t code = 0;
  if (c != 'u' || !parse_hex(code)) return fail("has an unknown escape");
  if (code >= 0xD800 && code < 0xDC00) {
    std::uint32_t low = 0;
    if (line_.substr(next_, 2) != "\\u") return fail("has half of a surrogate pair");
    next_ += 2;
    if (!parse_hex(low)) return fail("has an unknown escape");
    if (low < 0xDC00 || low > 0xDFFF) return fail("has half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code <= 0xDFFF) {
    return fail("has half of a surrogate pair");
  }
  append_utf8(into, code);
  return true;
}

bool FlatJson::parse_hex(std::uint32_t& code) {
  const std::string_view digits = line_.substr(next_, 4);
  if (digits.size() < 4) return false;
  code = 0;
  for (const char c : digits) {
    const std::string_view all = "0123456789abcdef";
    const auto digit = all.find(static_cast<char>(c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c));
    if (digit == std::string_view::npos) return false;
    code = code * 16 + static_cast<std::uint32_t>(digit);
  }
  next_ += 4;
  return true;
}

}  // namespace holdfast::history
