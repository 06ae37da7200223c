// SPDX-License-Identifier: Apache-2.0
//
// An error as the Forrst protocol has it, and the table of its codes. These headers name
// Boost.JSON, which a program that includes them links itself.
#pragma once

#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::forrst {

struct Fault {
  std::string code;     // "LOCK_TIMEOUT": one of the table, or a code of your own
  std::string message;  // for people
  // Where in the request: an RFC 6901 pointer from its root, or the byte at which it stopped being
  // JSON. At most one of them.
  std::optional<std::string> pointer{};
  std::optional<std::uint64_t> position{};
  boost::json::object details{};
};

// What the protocol says of a code.
struct CodeRow {
  std::string_view code;
  bool is_retryable;
  int http_status;
  std::string_view category;  // "locking", "protocol", …
};
std::span<const CodeRow> known_codes();
// A code that is not in the table counts as not retryable, with the status 400.
CodeRow row_of(std::string_view code);

namespace codes {
inline constexpr std::string_view parse_error = "PARSE_ERROR";
inline constexpr std::string_view invalid_request = "INVALID_REQUEST";
inline constexpr std::string_view invalid_protocol_version = "INVALID_PROTOCOL_VERSION";
inline constexpr std::string_view function_not_found = "FUNCTION_NOT_FOUND";
inline constexpr std::string_view version_not_found = "VERSION_NOT_FOUND";
inline constexpr std::string_view function_disabled = "FUNCTION_DISABLED";
inline constexpr std::string_view invalid_arguments = "INVALID_ARGUMENTS";
inline constexpr std::string_view extension_not_supported = "EXTENSION_NOT_SUPPORTED";
inline constexpr std::string_view extension_not_applicable = "EXTENSION_NOT_APPLICABLE";
inline constexpr std::string_view unauthorized = "UNAUTHORIZED";
inline constexpr std::string_view forbidden = "FORBIDDEN";
inline constexpr std::string_view not_found = "NOT_FOUND";
inline constexpr std::string_view conflict = "CONFLICT";
inline constexpr std::string_view gone = "GONE";
inline constexpr std::string_view deadline_exceeded = "DEADLINE_EXCEEDED";
inline constexpr std::string_view rate_limited = "RATE_LIMITED";
inline constexpr std::string_view internal_error = "INTERNAL_ERROR";
inline constexpr std::string_view unavailable = "UNAVAILABLE";
inline constexpr std::string_view dependency_error = "DEPENDENCY_ERROR";
inline constexpr std::string_view idempotency_conflict = "IDEMPOTENCY_CONFLICT";
inline constexpr std::string_view idempotency_processing = "IDEMPOTENCY_PROCESSING";
inline constexpr std::string_view lock_acquisition_failed = "LOCK_ACQUISITION_FAILED";
inline constexpr std::string_view lock_timeout = "LOCK_TIMEOUT";
inline constexpr std::string_view lock_not_found = "LOCK_NOT_FOUND";
inline constexpr std::string_view lock_ownership_mismatch = "LOCK_OWNERSHIP_MISMATCH";
inline constexpr std::string_view lock_already_released = "LOCK_ALREADY_RELEASED";
}  // namespace codes

}  // namespace holdfast::forrst
