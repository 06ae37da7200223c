// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/result.hpp"

#include <holdfast/forrst/service.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>

namespace holdfast::server {

namespace {

namespace json = boost::json;

constexpr std::size_t max_code_bytes = 64;
constexpr std::size_t max_message_bytes = 4096;
constexpr auto deadline_slack = std::chrono::milliseconds(50);

bool is_code(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= max_code_bytes && text.front() >= 'A' &&
         text.front() <= 'Z' && std::ranges::all_of(text, is_allowed);
}

const json::string* string_in(const json::object& object, std::string_view name) {
  const auto* member = object.if_contains(name);
  return member != nullptr ? member->if_string() : nullptr;
}

}  // namespace

std::optional<json::value> parse_result(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return json::value(nullptr);
  json::error_code failed;
  json::parse_options options;
  options.max_depth = forrst::max_request_depth;
  auto value = json::parse(text, failed, {}, options);
  if (failed) return std::nullopt;
  return value;
}

std::optional<forrst::Fault> parse_fault(std::string_view text) {
  const auto value = parse_result(text);
  const auto* object = value ? value->if_object() : nullptr;
  if (object == nullptr) return std::nullopt;
  const auto* code = string_in(*object, "code");
  const auto* message = string_in(*object, "message");
  if (code == nullptr || message == nullptr || !is_code(*code)) return std::nullopt;
  if (message->size() > max_message_bytes) return std::nullopt;
  forrst::Fault fault{.code = std::string(*code), .message = std::string(*message)};
  const auto* details = object->if_contains("details");
  if (details != nullptr && details->if_object() != nullptr) fault.details = *details->if_object();
  return fault;
}

bool is_out_of_time(std::chrono::steady_clock::time_point deadline) {
  return std::chrono::steady_clock::now() + deadline_slack >= deadline;
}

std::unexpected<forrst::Fault> failed(std::string_view code, std::string message,
                                      json::object details) {
  return std::unexpected(forrst::Fault{
      .code = std::string(code), .message = std::move(message), .details = std::move(details)});
}

}  // namespace holdfast::server
