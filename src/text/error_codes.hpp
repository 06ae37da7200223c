// SPDX-License-Identifier: Apache-2.0
//
// The one table behind every way an error leaves Holdfast: the word in JSON, the exit code of the
// command line and the HTTP status. docs/errors.md says the same to people, and a test compares.
#pragma once

#include <holdfast/error.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <system_error>

namespace holdfast::text {

struct ErrorRow {
  Errc code;
  std::string_view word;
  int exit_code;
  int http_status;
  std::errc condition;  // what a std::error_code of it compares equal to
};

// Every Errc, in the order of the enumeration.
std::span<const ErrorRow> error_table() noexcept;

int exit_code(Errc code) noexcept;
int http_status(Errc code) noexcept;

// The inverse of to_string; nothing for a word that is not in the table.
std::optional<Errc> parse_errc(std::string_view word) noexcept;

}  // namespace holdfast::text
