// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::server {

// Where a server listens: an IP address and a port, or a socket in the file system.
struct ListenAddress {
  std::string host;         // in its shortest form, IPv6 without brackets; empty for a unix socket
  std::uint16_t port = 0;   // 0: any that is free
  std::string unix_path;    // absolute; empty for an IP address
  bool is_loopback = true;  // no other machine can reach it
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

// "127.0.0.1:3009", "[::1]:3009", "localhost:3009" or "unix:/path". `localhost` is 127.0.0.1,
// whatever a resolver would say; other names are refused, since what they mean may change. Errors:
// bad_input.
Result<ListenAddress> parse_listen(std::string_view text);

// As parse_listen reads it.
std::string to_string(const ListenAddress& address);

}  // namespace holdfast::server
