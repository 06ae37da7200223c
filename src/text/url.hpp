// SPDX-License-Identifier: Apache-2.0
//
// A store's URL, taken apart. Which schemes and options exist is for the stores to say.
#pragma once

#include <holdfast/error.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::text {

inline constexpr std::size_t max_url_bytes = 4096;

struct Endpoint {
  std::string host;        // an IPv6 address without its brackets
  std::uint16_t port = 0;  // 0: not given
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// Everything is percent-decoded and free of control characters.
struct StoreUrl {
  std::string scheme;  // in lower case
  std::string user;
  std::string password;
  std::vector<Endpoint> endpoints;  // "redlock://a,b,c" has three, "file:/x" has none
  std::string path;                 // "memory:NAME" has "NAME", "file:///x" has "/x"
  std::map<std::string, std::string, std::less<>> options;
};

// Errors: bad_input with the URL (its password masked) and what is wrong with it.
Result<StoreUrl> parse_store_url(std::string_view url);

// The URL for logs and messages: the password, and the value of every option called password,
// token or secret, replaced by "***". Also for a text that is no URL; then it hides rather too
// much.
std::string masked(std::string_view url);

}  // namespace holdfast::text
