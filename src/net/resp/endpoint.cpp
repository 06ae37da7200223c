// SPDX-License-Identifier: Apache-2.0
#include "net/resp/endpoint.hpp"

#include <fmt/format.h>

namespace holdfast::net::resp {

std::string Endpoint::describe() const {
  if (!unix_path.empty()) return "unix:" + unix_path;
  const bool is_ipv6 = host.contains(':');
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace holdfast::net::resp
