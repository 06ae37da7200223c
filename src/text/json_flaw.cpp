// SPDX-License-Identifier: Apache-2.0
#include "text/json_flaw.hpp"

#include "model/utf8.hpp"
#include "text/ascii.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace holdfast::text {

namespace {

namespace json = boost::json;

// Whether these bytes begin a character that the end of the text cuts short.
bool is_cut_short(std::string_view rest) {
  const auto lead = static_cast<unsigned char>(rest.front());
  const std::size_t wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
  const auto goes_on = [](char each) { return (static_cast<unsigned char>(each) & 0xc0U) == 0x80; };
  return lead <= 0xf4 && rest.size() < wanted && std::ranges::all_of(rest.substr(1), goes_on);
}

// A piece of JSON that is known to be whole, as the parser of everything else understands it.
json::value parsed(std::string_view piece) {
  json::error_code failed;
  return json::parse({piece.data(), piece.size()}, failed);
}

// Follows the grammar, and stays where it is broken.
class Walk {
 public:
  Walk(std::string_view json, std::size_t max_depth) : json_(json), max_depth_(max_depth) {}

  std::optional<JsonError> walk() {
    if (value(0)) {
      skip_spaces();
      if (more()) refuse("more than one value");
    }
    return std::move(error_);
  }

 private:
  using Keys = std::set<std::string, std::less<>>;

  bool refuse_at(std::size_t position, std::string message) {
    error_ = JsonError{position, std::move(message)};
    return false;
  }
  bool refuse(std::string_view message) {
    return refuse_at(at_, more() ? std::string(message) : "the text ends too early");
  }
  bool more() const { return at_ < json_.size(); }
  char next() const { return more() ? json_[at_] : '\0'; }
  bool take(char wanted) {
    if (!more() || next() != wanted) return false;
    ++at_;
    return true;
  }
  void skip_spaces() { at_ = std::min(json_.find_first_not_of(" \t\r\n", at_), json_.size()); }

  bool value(std::size_t depth);
  bool word(std::string_view word);
  bool array(std::size_t depth);
  bool object(std::size_t depth);
  bool key(Keys& keys);
  bool string();
  bool escape();
  bool unit(unsigned& out);
  bool number();
  bool digits();

  const std::string_view json_;
  const std::size_t max_depth_;
  std::size_t at_ = 0;
  std::optional<JsonError> error_;
};

bool Walk::value(std::size_t depth) {
  skip_spaces();
  const bool nests = next() == '{' || next() == '[';
  if (nests && depth == max_depth_) {
    return refuse(fmt::format("nested deeper than {} levels", max_depth_));
  }
  switch (next()) {
    case '{': return object(depth + 1);
    case '[': return array(depth + 1);
    case '"': return string();
    case 't': return word("true");
    case 'f': return word("false");
    case 'n': return word("null");
    default: break;
  }
  return next() == '-' || is_digit(next()) ? number() : refuse("a value is missing");
}

bool Walk::word(std::string_view word) {
  for (const char each : word) {
    if (!take(each)) return refuse(fmt::format("no value; did you mean {}?", word));
  }
  return true;
}

bool Walk::array(std::size_t depth) {
  ++at_;
  skip_spaces();
  if (take(']')) return true;
  do {
    if (!value(depth)) return false;
    skip_spaces();
    if (take(']')) return true;
  } while (take(','));
  return refuse("',' or ']' is missing");
}

bool Walk::object(std::size_t depth) {
  ++at_;
  Keys keys;
  skip_spaces();
  if (take('}')) return true;
  do {
    skip_spaces();
    if (next() != '"') return refuse("a key in quotes is missing");
    if (!key(keys)) return false;
    skip_spaces();
    if (!take(':')) return refuse("':' is missing");
    if (!value(depth)) return false;
    skip_spaces();
    if (take('}')) return true;
  } while (take(','));
  return refuse("',' or '}' is missing");
}

bool Walk::key(Keys& keys) {
  const auto start = at_;
  if (!string()) return false;
  auto written = json_.substr(start, at_ - start);
  // "\u0061" is the same key as "a".
  const auto value = written.find('\\') == std::string_view::npos ? json::value() : parsed(written);
  if (const auto* plain = value.if_string()) {
    written = {plain->data(), plain->size()};
  } else {
    written = written.substr(1, written.size() - 2);
  }
  if (keys.emplace(written).second) return true;
  return refuse_at(start, "the same key twice in one object");
}

bool Walk::string() {
  ++at_;
  while (more()) {
    if (take('"')) return true;
    if (next() == '\\') {
      if (!escape()) return false;
      continue;
    }
    if (static_cast<unsigned char>(next()) < 0x20) return refuse("a control character in a text");
    const auto rest = json_.substr(at_);
    const auto bytes = model::first_code_point(rest).bytes;
    if (bytes == 0 && !is_cut_short(rest)) return refuse("a byte that is not UTF-8");
    at_ = bytes == 0 ? json_.size() : at_ + bytes;
  }
  return refuse("the closing quote is missing");
}

bool Walk::escape() {
  ++at_;
  if (!take('u')) {
    const bool is_known = more() && std::string_view("\"\\/bfnrt").contains(next());
    if (!is_known) return refuse("an unknown escape");
    ++at_;
    return true;
  }
  const auto start = at_ - 2;
  unsigned first = 0;
  if (!unit(first)) return false;
  if (first < 0xd800 || first > 0xdfff) return true;
  // Half a character is none; the two halves stand in this order and side by side.
  if (first >= 0xdc00) return refuse_at(start, "half a surrogate pair");
  unsigned second = 0;
  if (!take('\\') || !take('u')) return refuse("the other half of a surrogate pair is missing");
  const auto other = at_ - 2;
  if (!unit(second)) return false;
  if (second >= 0xdc00 && second <= 0xdfff) return true;
  return refuse_at(other, "the other half of a surrogate pair is missing");
}

bool Walk::unit(unsigned& out) {
  for (int i = 0; i < 4; ++i, ++at_) {
    if (!is_hex_digit(next())) return refuse("a hexadecimal digit is missing");
    const auto digit = static_cast<unsigned>(next());
    out = out * 16 + (is_digit(next()) ? digit - '0' : (digit | 0x20U) - 'a' + 10);
  }
  return true;
}

bool Walk::digits() {
  if (!is_digit(next())) return refuse("a digit is missing");
  while (is_digit(next())) ++at_;
  return true;
}

bool Walk::number() {
  const auto start = at_;
  take('-');
  // What stands behind a leading zero is no part of the number.
  if (!take('0') && !digits()) return false;
  if (take('.') && !digits()) return false;
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!digits()) return false;
  }
  const auto value = parsed(json_.substr(start, at_ - start));
  const auto* real = value.if_double();
  const bool is_finite = real == nullptr ? !value.is_null() : std::isfinite(*real);
  return is_finite || refuse_at(start, "a number that is out of range");
}

}  // namespace

std::optional<JsonError> find_flaw(std::string_view json, std::size_t max_depth) {
  return Walk(json, max_depth).walk();
}

}  // namespace holdfast::text
