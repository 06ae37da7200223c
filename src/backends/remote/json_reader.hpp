// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/view.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::backends::remote {

// Reads the fields of one object and remembers the first that is wrong. Fields that it is not asked
// for are passed over: a newer peer may say more.
class JsonReader {
 public:
  explicit JsonReader(const boost::json::object& object) : object_(object) {}

  // Missing or null gives the default. A number is an integer or, since a double would lose the
  // last digits of a fence, a string of decimal digits.
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::uint64_t number(std::string_view name, std::uint64_t otherwise = 0);
  std::uint32_t small_number(std::string_view name, std::uint32_t otherwise = 0);
  std::int64_t signed_number(std::string_view name);
  Micros micros(std::string_view name, Micros otherwise = {});
  std::string text(std::string_view name);
  bool flag(std::string_view name, bool otherwise = false);
  const boost::json::object* object(std::string_view name);
  const boost::json::array* array(std::string_view name);

  void refuse(std::string_view name, std::string_view rule);
  bool failed() const { return error_.has_value(); }
  // bad_input with the field and the rule, or success.
  Result<void> done() const;

 private:
  const boost::json::value* find(std::string_view name) const;

  const boost::json::object& object_;
  std::optional<Error> error_;
};

// As JsonReader::number reads it.
inline std::string digits(std::uint64_t number) { return std::to_string(number); }

}  // namespace holdfast::backends::remote
