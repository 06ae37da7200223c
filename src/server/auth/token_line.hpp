// SPDX-License-Identifier: Apache-2.0
//
// One line of a token file:
//
//     NAME SHA256 VERBS PREFIXES [expires=TIME]
//
//     deploy-bot 9f86…0f08 read,lock deploy:,cron: expires=2027-01-31T12:00:00Z
//     dashboard  2c26…e7ae read      *
//
// Fields are separated by spaces or tabs. docs/security.md has the grammar of each.
#pragma once

#include <holdfast/error.hpp>

#include "server/auth/principal.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::server {

inline constexpr std::size_t max_token_name_bytes = 64;
inline constexpr std::size_t max_token_prefixes = 100;

// Errors: bad_input with the rule, without file and line. No message repeats the second field: by
// mistake it may be the token itself.
Result<Principal> parse_token_line(std::string_view line);
// The line, without its end, which parse_token_line reads as the same.
std::string format_token_line(const Principal& principal);

// What the fields must be by themselves, also for whoever writes a line. Errors: bad_input.
Result<void> check_token_name(std::string_view name);
Result<Verbs> parse_verbs(std::string_view words);  // "read,lock"
Result<void> check_prefix(std::string_view prefix);

// "*" or the prefixes as they stand in a line, percent-encoded and separated by commas.
std::string format_prefixes(const std::vector<std::string>& prefixes);

}  // namespace holdfast::server
