// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::net::resp {

// Certificates are always verified, and so is the host's name.
struct Tls {
  std::string ca_file;      // empty: the system's authorities
  std::string certificate;  // of this client, if the server asks for one
  std::string private_key;
  std::string server_name;  // for SNI and verification; empty: the host
};

// Where a server is and how to be let in.
struct Endpoint {
  std::string host = "127.0.0.1";  // name, IPv4 or IPv6 address
  std::uint16_t port = 6379;
  std::string unix_path;  // instead of host and port
  std::optional<Tls> tls;

  std::string user;      // empty: the default user
  std::string password;  // empty: no AUTH
  std::uint32_t database = 0;

  std::chrono::microseconds connect_timeout = std::chrono::seconds(2);  // with TLS and login
  // A connection from which nothing comes for so long, while a command is unanswered, is dropped.
  // One that is slow is not: its commands end by their own deadlines, and their late replies are
  // read and thrown away.
  std::chrono::microseconds command_timeout = std::chrono::seconds(2);
  // A subscriber that heard nothing for so long asks for a sign of life.
  std::chrono::microseconds silence = std::chrono::seconds(5);

  std::string describe() const;  // "redis.example:6379", "unix:/run/redis.sock": no secrets
};

}  // namespace holdfast::net::resp
