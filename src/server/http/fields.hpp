// SPDX-License-Identifier: Apache-2.0
//
// Reads the fields of a JSON object one by one, remembers the first thing that is wrong, and
// refuses what nobody asked for: a slip of the pen is never silently a default.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/names.hpp>
#include <holdfast/options.hpp>

#include <boost/container/small_vector.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::server {

class Fields {
 public:
  // `path` stands before the names in messages: "metadata." for an object inside.
  explicit Fields(const boost::json::object& object, std::string path = {})
      : object_(object), path_(std::move(path)) {}

  // Each gives nothing for a field that is missing or null. The views are into the object.
  std::optional<std::string_view> text(std::string_view name, std::size_t max_bytes);
  std::optional<std::uint64_t> number(std::string_view name, std::uint64_t least,
                                      std::uint64_t most);
  std::optional<Fence> fence(std::string_view name);
  std::optional<bool> yes_or_no(std::string_view name);
  std::optional<Duration> duration(std::string_view name, Duration least, Duration most);
  const boost::json::object* object(std::string_view name);
  const boost::json::array* array(std::string_view name);
  // A field that must be there, as `text`.
  std::string_view needed_text(std::string_view name, std::size_t max_bytes);

  void refuse(std::string_view name, std::string_view rule);
  // After the last field: what was wrong, and whether there was a field that is not known.
  Result<void> done() const;
  bool failed() const { return error_.has_value(); }

 private:
  const boost::json::value* find(std::string_view name);

  const boost::json::object& object_;
  const std::string path_;
  boost::container::small_vector<std::string_view, 16> known_;
  std::size_t found_ = 0;
  std::optional<Error> error_;
};

}  // namespace holdfast::server
