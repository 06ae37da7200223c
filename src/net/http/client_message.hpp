// SPDX-License-Identifier: Apache-2.0
//
// A request as a client makes it, and what comes back.
#pragma once

#include <holdfast/error.hpp>

#include "net/resp/endpoint.hpp"
#include "runtime/clock.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::net::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Where requests go, and what all of them carry.
struct Origin {
  std::string host = "127.0.0.1";  // name, IPv4 or IPv6 address
  std::uint16_t port = 80;
  std::string unix_path;         // instead of both; `host` is then only what the server is told
  std::optional<resp::Tls> tls;  // always verified, with the host's name
  Headers headers{};             // of every request: Authorization

  std::size_t max_connections = 8;  // for requests; each stream has one more of its own
  std::size_t max_body_bytes = 1 << 20U;
  std::chrono::microseconds connect_timeout = std::chrono::seconds(2);  // with TLS
  // Zero: a request that is given up costs its connection at once. Otherwise its late answer is
  // read and dropped, and the connection is used again, unless not one byte came for so long. So
  // long after a repeatable request on a kept connection that one is taken for dead.
  std::chrono::microseconds longest_silence{};

  std::string describe() const;  // "https://host:443", "unix:/run/x": no secrets
};

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";
  Headers headers{};
  std::string body{};
  runtime::LocalTime deadline{};
  std::stop_token stop{};
  // Sending it twice does no harm: it may be sent anew when a kept connection turns out to be dead.
  bool repeatable = false;
  // Called once, on the runtime's own thread or in `send`, when nothing of it is under way any
  // more; for a request that was given up that may be later. True if it was answered, or never
  // sent: then it does nothing from now on that it has not done before.
  std::function<void(bool is_sure)> settled{};
};

struct ClientResponse {
  int status = 0;
  Headers headers{};
  std::string body{};

  // The first header of this name, in any case; empty if there is none.
  std::string_view header(std::string_view name) const noexcept;
};

// What happens to a stream, all on the runtime's own thread.
struct StreamEvents {
  // The server agreed (2xx); the body of `head` is empty.
  std::function<void(const ClientResponse& head)> opened;
  std::function<void(std::string_view bytes)> bytes;
  // Once, last, unless the stream is let go before. An answer other than 2xx comes along whole.
  std::function<void(Error why, std::optional<ClientResponse> refusal)> closed;
};

// The request as it leaves. A value keeps no line end: nobody adds a header by way of another.
std::string bytes_of(const Origin& origin, const ClientRequest& request);

}  // namespace holdfast::net::http
