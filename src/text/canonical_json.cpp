// SPDX-License-Identifier: Apache-2.0
#include "text/canonical_json.hpp"

#include "model/utf8.hpp"
#include "text/ascii.hpp"
#include "text/utf16.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace holdfast::text {

namespace {

// Whether a number of JSON that no double can hold is too large rather than too small: by the place
// of its first digit that is not 0.
bool is_huge(std::string_view number) {
  if (number.starts_with('-')) number.remove_prefix(1);
  const auto e = std::min(number.find_first_of("eE"), number.size());
  const auto digits = number.substr(0, e);
  const auto point = std::min(digits.find('.'), digits.size());
  const auto first = digits.find_first_of("123456789");
  const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  auto exponent = number.substr(std::min(e + 1, number.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t value = 0;
  const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
  if (read.ec == std::errc::result_out_of_range) return !exponent.starts_with('-');
  return value > -place;
}

// Reads JSON and writes its canonical form in one go. Only objects wait for their end, to be
// sorted.
class Reader {
 public:
  explicit Reader(std::string_view json) : json_(json) {}

  Result<std::string> read() {
    std::string out;
    if (value(out, 0) && (skip_spaces(), at_ != json_.size())) refuse("more than one value");
    if (error_) return std::unexpected(std::move(*error_));
    return out;
  }

 private:
  // In the order that they are written in; a repeated key takes the place of the first.
  using Members = std::map<std::u16string, std::string>;

  bool refuse(std::string_view what) {
    if (!error_) error_ = Error{Errc::bad_input, fmt::format("{} at byte {}", what, at_)};
    return false;
  }
  bool more() const { return at_ < json_.size(); }
  char next() const { return more() ? json_[at_] : '\0'; }
  bool take(char wanted) {
    if (!more() || json_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void skip_spaces() {
    while (more() && (next() == ' ' || next() == '\t' || next() == '\n' || next() == '\r')) ++at_;
  }

  bool value(std::string& out, std::size_t depth);
  bool word(std::string& out, std::string_view word);
  bool array(std::string& out, std::size_t depth);
  bool object(std::string& out, std::size_t depth);
  bool member(Members& members, std::size_t depth);
  bool string(std::u16string& out);
  bool escape(std::u16string& out);
  bool hex(std::u16string& out);
  bool number(std::string& out);
  bool digits();

  const std::string_view json_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

bool Reader::value(std::string& out, std::size_t depth) {
  skip_spaces();
  if (depth > max_canonical_depth) {
    return refuse(fmt::format("nested deeper than {} levels", max_canonical_depth));
  }
  switch (next()) {
    case '{': return object(out, depth);
    case '[': return array(out, depth);
    case 't': return word(out, "true");
    case 'f': return word(out, "false");
    case 'n': return word(out, "null");
    case '"': {
      std::u16string text;
      if (!string(text)) return false;
      append_quoted(out, text);
      return true;
    }
    default: break;
  }
  if (next() == '-' || is_digit(next())) return number(out);
  return refuse(more() ? "no value" : "a value is missing");
}

bool Reader::word(std::string& out, std::string_view word) {
  if (!json_.substr(at_).starts_with(word)) return refuse("no value");
  at_ += word.size();
  out += word;
  return true;
}

bool Reader::array(std::string& out, std::size_t depth) {
  ++at_;
  out += '[';
  skip_spaces();
  if (!take(']')) {
    while (true) {
      if (!value(out, depth + 1)) return false;
      skip_spaces();
      if (take(']')) break;
      if (!take(',')) return refuse("',' or ']' is missing");
      out += ',';
    }
  }
  out += ']';
  return true;
}

bool Reader::member(Members& members, std::size_t depth) {
  std::u16string key;
  std::string written;
  skip_spaces();
  if (next() != '"') return refuse("a key in quotes is missing");
  if (!string(key)) return false;
  skip_spaces();
  if (!take(':')) return refuse("':' is missing");
  if (!value(written, depth + 1)) return false;
  members.insert_or_assign(std::move(key), std::move(written));
  return true;
}

bool Reader::object(std::string& out, std::size_t depth) {
  ++at_;
  Members members;
  skip_spaces();
  if (!take('}')) {
    while (true) {
      if (!member(members, depth)) return false;
      skip_spaces();
      if (take('}')) break;
      if (!take(',')) return refuse("',' or '}' is missing");
    }
  }
  out += '{';
  bool is_first = true;
  for (const auto& [key, written] : members) {
    if (!std::exchange(is_first, false)) out += ',';
    append_quoted(out, key);
    out += ':';
    out += written;
  }
  out += '}';
  return true;
}

bool Reader::string(std::u16string& out) {
  ++at_;
  while (more()) {
    if (take('"')) return true;
    if (next() == '\\') {
      if (!escape(out)) return false;
      continue;
    }
    if (static_cast<unsigned char>(next()) < 0x20) return refuse("a control character in a text");
    const auto point = model::first_code_point(json_.substr(at_));
    if (point.bytes == 0) return refuse("no UTF-8");
    append_utf16(out, point.value);
    at_ += point.bytes;
  }
  return refuse("the end of a text is missing");
}

bool Reader::escape(std::u16string& out) {
  ++at_;
  switch (next()) {
    case '"':
    case '\\':
    case '/': out += static_cast<char16_t>(next()); break;
    case 'b': out += u'\b'; break;
    case 'f': out += u'\f'; break;
    case 'n': out += u'\n'; break;
    case 'r': out += u'\r'; break;
    case 't': out += u'\t'; break;
    case 'u': return hex(out);
    default: return refuse("an unknown escape");
  }
  ++at_;
  return true;
}

bool Reader::hex(std::u16string& out) {
  const auto four = json_.substr(at_ + 1, 4);
  std::uint16_t unit = 0;
  const auto read = std::from_chars(four.data(), four.data() + four.size(), unit, 16);
  if (four.size() != 4 || read.ptr != four.data() + 4 || read.ec != std::errc()) {
    return refuse("four hexadecimal digits are missing");
  }
  out += static_cast<char16_t>(unit);
  at_ += 5;
  return true;
}

bool Reader::digits() {
  if (!is_digit(next())) return refuse("a digit is missing");
  while (is_digit(next())) ++at_;
  return true;
}

bool Reader::number(std::string& out) {
  const auto start = at_;
  take('-');
  const bool leads_with_zero = next() == '0';
  if (leads_with_zero) ++at_;
  if (!leads_with_zero && !digits()) return false;
  if (take('.') && !digits()) return false;
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!digits()) return false;
  }
  const auto text = json_.substr(start, at_ - start);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc::result_out_of_range && is_huge(text)) {
    at_ = start;
    return refuse("a number beyond the doubles");
  }
  out += js_number(value);
  return true;
}

}  // namespace

Result<std::string> canonical_json(std::string_view json) {
  if (json.size() > max_canonical_bytes) {
    return fail(Errc::bad_input, fmt::format("must be at most {} bytes long; got {}",
                                             max_canonical_bytes, json.size()));
  }
  return Reader(json).read();
}

}  // namespace holdfast::text
