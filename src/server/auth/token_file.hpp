// SPDX-License-Identifier: Apache-2.0
//
// A file of token lines; empty lines, and lines that begin with #, say nothing. Whoever could write
// it could give himself every right, so it must belong to this user or root and be closed to all
// others.
#pragma once

#include <holdfast/error.hpp>

#include "server/auth/principal.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

inline constexpr std::size_t max_token_file_bytes = 1024 * 1024;
inline constexpr std::size_t max_tokens = 10'000;

struct TokenEntry {
  Principal principal;
  std::size_t line = 0;  // from 1
};

// Errors: bad_input with file, line and rule: "tokens:3: …". Also for a name or a hash that stands
// twice.
Result<std::vector<TokenEntry>> parse_token_file(std::string_view text, std::string_view file_name);

// What the open file holds. Errors: bad_input if it is no regular file, somebody else's, or open to
// others, with what to do.
Result<std::string> read_token_file(int fd, const std::string& path);
Result<std::string> read_token_file(const std::string& path);

}  // namespace holdfast::server
