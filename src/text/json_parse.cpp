// SPDX-License-Identifier: Apache-2.0
#include "text/json_parse.hpp"

#include <boost/json/stream_parser.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace holdfast::text {

namespace {

namespace json = boost::json;

// What the parser lets through, in a tree whose depth the parser has limited.
const char* find_fault(const json::value& value) {
  if (const auto* number = value.if_double())
    return std::isfinite(*number) ? nullptr : "has a number that is out of range";
  if (const auto* array = value.if_array()) {
    for (const auto& each : *array) {
      if (const auto* fault = find_fault(each)) return fault;
    }
  }
  if (const auto* object = value.if_object()) {
    for (const auto& each : *object) {
      if (const auto* fault = find_fault(each.value())) return fault;
    }
  }
  return nullptr;
}

// The parser keeps the last of two equal keys, so they are counted: every member has one colon
// outside of a string, and whatever is missing in the tree was overwritten.
std::size_t count_members(std::string_view text) {
  std::size_t colons = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char each = text[at];
    if (in_string && each == '\\') {
      ++at;
    } else if (each == '"') {
      in_string = !in_string;
    } else if (each == ':' && !in_string) {
      ++colons;
    }
  }
  return colons;
}

std::size_t count_members(const json::value& value) {
  std::size_t members = 0;
  if (const auto* array = value.if_array()) {
    for (const auto& each : *array) members += count_members(each);
  }
  if (const auto* object = value.if_object()) {
    members += object->size();
    for (const auto& each : *object) members += count_members(each.value());
  }
  return members;
}

// What the parser found, in its own words and counted as it counts.
struct Broken {
  std::string message;
  std::size_t read = 0;
};

std::expected<json::value, Broken> parse(std::string_view text, std::size_t max_depth,
                                         json::storage_ptr memory) {
  json::parse_options options;
  options.max_depth = max_depth;
  json::stream_parser parser(std::move(memory), options);
  json::error_code failed;
  const auto read = parser.write_some(text.data(), text.size(), failed);
  if (!failed && read == text.size()) parser.finish(failed);
  const auto refuse = [read](std::string message) {
    return std::unexpected(Broken{std::move(message), read});
  };
  if (failed == json::error::too_deep) {
    return refuse(fmt::format("the JSON is nested deeper than {} levels", max_depth));
  }
  if (failed || read != text.size()) {
    return refuse(fmt::format("the body is not JSON: {} at byte {}",
                              failed ? failed.message() : "more than one value", read));
  }
  json::value value = parser.release();
  if (const auto* fault = find_fault(value)) return refuse(fmt::format("the JSON {}", fault));
  if (count_members(text) != count_members(value)) {
    return refuse("the JSON has the same key twice in one object");
  }
  return value;
}

}  // namespace

Result<json::value> parse_json(std::string_view text, json::storage_ptr memory) {
  auto value = parse(text, max_json_depth, std::move(memory));
  if (!value) return fail(Errc::bad_input, std::move(value.error().message));
  return std::move(*value);
}

std::expected<json::value, JsonError> parse_json_at(std::string_view text, std::size_t max_depth,
                                                    json::storage_ptr memory) {
  auto value = parse(text, max_depth, std::move(memory));
  if (value) return std::move(*value);
  // The parser's own count is only the answer where it alone sees a flaw.
  auto flaw = find_flaw(text, max_depth);
  if (!flaw) flaw = JsonError{value.error().read, std::move(value.error().message)};
  return std::unexpected(std::move(*flaw));
}

}  // namespace holdfast::text
