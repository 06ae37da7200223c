// SPDX-License-Identifier: Apache-2.0
//
// A token is a secret of which only the SHA-256 is kept. A plain hash is enough, since a token has
// 256 random bits: there is nothing to guess, as there is with a password.
#pragma once

#include "server/auth/principal.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::server {

// What somebody presents as a token; more is refused unread.
inline constexpr std::size_t max_token_bytes = 512;

inline constexpr std::string_view token_mark = "hf_";

// "hf_" and 43 characters of base64url: 256 bits from the kernel's generator. The mark lets
// scanners of repositories and logs find tokens that went astray.
std::string make_token();

SecretHash hash_of(std::string_view token);

// 64 hexadecimal digits, in lower case.
std::string to_hex(const SecretHash& hash);
// Of either case. Nothing if it is anything else.
std::optional<SecretHash> parse_hash(std::string_view hex);

}  // namespace holdfast::server
