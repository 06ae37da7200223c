// SPDX-License-Identifier: Apache-2.0
//
// One line of JSON that is an object without objects or arrays inside. A general parser would spend
// more time on a million of them than the whole check takes.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::history {

struct FlatValue {
  enum class Kind : std::uint8_t { text, whole_number, boolean, null };
  Kind kind = Kind::null;
  bool negative = false;
  bool truth = false;
  std::uint64_t magnitude = 0;
  std::string_view text;
};

struct FlatField {
  std::string_view name;
  FlatValue value;
};

// What is wrong, and in which field if one was reached.
struct FlatError {
  std::string field;
  std::string why;
};

class FlatJson {
 public:
  // The fields point into the line and into this object, until the next call.
  std::expected<const std::vector<FlatField>*, FlatError> parse(std::string_view line);

 private:
  bool parse_fields();
  bool parse_field();
  bool parse_value(FlatValue& value);
  bool parse_number(FlatValue& value);
  bool parse_string(std::string_view& text);
  bool parse_escape(std::string& into);
  bool parse_hex(std::uint32_t& code);
  bool parse_word(std::string_view word);
  void skip_blanks();
  bool at(char c) const { return next_ < line_.size() && line_[next_] == c; }
  bool fail(std::string_view why);

  std::string_view line_;
  std::size_t next_ = 0;
  std::vector<FlatField> fields_;
  std::vector<std::string> unescaped_;
  std::size_t unescaped_count_ = 0;
  FlatError error_;
};

}  // namespace holdfast::history
