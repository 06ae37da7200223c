// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/redis/dialect.hpp"
#include "net/resp/endpoint.hpp"
#include "text/url.hpp"

namespace holdfast::backends::redis {

struct Options {
  net::resp::Endpoint endpoint;
  Dialect dialect;
  // Grants and renewals count once so many replicas have them; 0: at once.
  std::uint32_t replicas = 0;
  Micros replica_timeout = std::chrono::milliseconds(100);
  std::uint32_t audit = 0;  // events kept beside each lock; 0: none
  // Every fence is compared with the server's clock, not only on new connections: for a proxy that
  // hides which server answers.
  bool fence_clock_always = false;
};

inline constexpr Micros max_timeout = std::chrono::seconds(60);
inline constexpr std::uint32_t max_replicas = 100;
inline constexpr Micros max_replica_timeout = std::chrono::milliseconds(300);
inline constexpr std::uint32_t max_audit = 100'000;
inline constexpr std::uint32_t max_database = 1'000'000;

// redis://[USER:PASSWORD@]HOST[:PORT][/DB], rediss:// for TLS, redis:///PATH for a unix socket.
// Errors: bad_input, naming the option and its rule.
Result<Options> parse_options(const text::StoreUrl& url);

}  // namespace holdfast::backends::redis
