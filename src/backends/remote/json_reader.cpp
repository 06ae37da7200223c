// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/json_reader.hpp"

#include <fmt/format.h>

#include <charconv>

namespace holdfast::backends::remote {

namespace json = boost::json;

namespace {

std::optional<std::uint64_t> number_in(const json::value& value) {
  if (const auto* is_signed = value.if_int64()) {
    if (*is_signed < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*is_signed);
  }
  if (const auto* is_unsigned = value.if_uint64()) return *is_unsigned;
  const auto* text = value.if_string();
  if (text == nullptr) return std::nullopt;
  std::uint64_t number = 0;
  const auto* const end = text->data() + text->size();
  const auto [at, failed] = std::from_chars(text->data(), end, number);
  if (failed != std::errc{} || at != end) return std::nullopt;
  return number;
}

}  // namespace

const json::value* JsonReader::find(std::string_view name) const {
  const auto* value = object_.if_contains({name.data(), name.size()});
  return value == nullptr || value->is_null() ? nullptr : value;
}

void JsonReader::refuse(std::string_view name, std::string_view rule) {
  if (!error_) error_ = Error{Errc::bad_input, fmt::format("{}: {}", name, rule)};
}

Result<void> JsonReader::done() const {
  if (error_) return std::unexpected(*error_);
  return {};
}

std::uint64_t JsonReader::number(std::string_view name, std::uint64_t otherwise) {
  const auto* value = find(name);
  if (value == nullptr) return otherwise;
  const auto number = number_in(*value);
  if (!number) refuse(name, "must be an integer, or a string of decimal digits");
  return number.value_or(otherwise);
}

std::uint32_t JsonReader::small_number(std::string_view name, std::uint32_t otherwise) {
  const auto number = this->number(name, otherwise);
  if (number <= UINT32_MAX) return static_cast<std::uint32_t>(number);
  refuse(name, "must be less than 2^32");
  return otherwise;
}

std::int64_t JsonReader::signed_number(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return 0;
  if (const auto* number = value->if_int64()) return *number;
  refuse(name, "must be an integer");
  return 0;
}

Micros JsonReader::micros(std::string_view name, Micros otherwise) {
  return find(name) == nullptr ? otherwise : Micros(signed_number(name));
}

std::string JsonReader::text(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  if (const auto* text = value->if_string()) return {text->data(), text->size()};
  refuse(name, "must be a string");
  return {};
}

bool JsonReader::flag(std::string_view name, bool otherwise) {
  const auto* value = find(name);
  if (value == nullptr) return otherwise;
  if (const auto* flag = value->if_bool()) return *flag;
  refuse(name, "must be true or false");
  return otherwise;
}

const json::object* JsonReader::object(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return nullptr;
  if (const auto* object = value->if_object()) return object;
  refuse(name, "must be an object");
  return nullptr;
}

const json::array* JsonReader::array(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return nullptr;
  if (const auto* array = value->if_array()) return array;
  refuse(name, "must be an array");
  return nullptr;
}

}  // namespace holdfast::backends::remote
