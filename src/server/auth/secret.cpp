// SPDX-License-Identifier: Apache-2.0
#include "server/auth/secret.hpp"

#include "runtime/random.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <cstdint>
#include <iterator>

namespace holdfast::server {
namespace {

constexpr std::string_view base64url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::optional<unsigned> digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

}  // namespace

std::string make_token() {
  std::string token(token_mark);
  // 256 bits in groups of six, the last of which is filled up with zeros.
  std::uint64_t bits = 0;
  unsigned count = 0;
  for (int word = 0; word < 4; ++word) {
    const auto fresh = runtime::secure_random();
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bits = bits << 8U | (fresh >> shift & 0xffU);
      count += 8;
      for (; count >= 6; count -= 6) token += base64url[bits >> (count - 6) & 0x3fU];
    }
  }
  token += base64url[bits << (6 - count) & 0x3fU];
  return token;
}

SecretHash hash_of(std::string_view token) {
  SecretHash hash;
  static_assert(hash.size() == SHA256_DIGEST_LENGTH);
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data());
  return hash;
}

std::string to_hex(const SecretHash& hash) {
  std::string out;
  for (const auto byte : hash) fmt::format_to(std::back_inserter(out), "{:02x}", byte);
  return out;
}

std::optional<SecretHash> parse_hash(std::string_view hex) {
  SecretHash hash;
  if (hex.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const auto high = digit_value(hex[2 * i]);
    const auto low = digit_value(hex[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    hash[i] = static_cast<unsigned char>(*high << 4U | *low);
  }
  return hash;
}

}  // namespace holdfast::server
