// SPDX-License-Identifier: Apache-2.0
#include "server/auth/bearer.hpp"

#include <algorithm>

namespace holdfast::server {
namespace {

constexpr std::string_view scheme = "bearer";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// RFC 9110, 11.2: token68, before the "=" that may end it.
bool is_token68(char c) {
  const char small = lower(c);
  return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~+/").contains(c);
}

}  // namespace

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  const auto word = authorization.substr(0, authorization.find(' '));
  if (!std::ranges::equal(word, scheme, {}, lower)) return std::nullopt;
  auto token = authorization.substr(word.size());
  const auto begin = token.find_first_not_of(' ');
  if (begin == std::string_view::npos) return std::nullopt;
  token.remove_prefix(begin);
  const auto body = token.substr(0, token.find_last_not_of('=') + 1);
  if (body.empty() || !std::ranges::all_of(body, is_token68)) return std::nullopt;
  return token;
}

}  // namespace holdfast::server
