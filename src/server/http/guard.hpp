// SPDX-License-Identifier: Apache-2.0
//
// Who is let in: decided from the request alone, before any endpoint sees it.
#pragma once

#include "server/http/call.hpp"
#include "server/problem.hpp"

#include <expected>

namespace holdfast::server {

struct Refused {
  Problem problem;
  Micros retry_after{};  // zero: none
};

class Guard {
 public:
  // `hosts` are the names under which the server is reached, without ports.
  Guard(Services& services, std::vector<std::string> hosts);

  // The caller, or why not. In this order: a foreign Host or Origin, a body that is not JSON, a
  // missing or unknown token, too many requests, a verb that is not the caller's.
  std::expected<PrincipalPtr, Refused> admit(const net::http::Request& request,
                                             const Route& route) const;

 private:
  bool is_known_host(std::string_view host) const;
  bool is_foreign(const net::http::Request& request) const;
  std::expected<PrincipalPtr, Refused> identify(const net::http::Request& request,
                                                const Route& route) const;

  Services& services_;
  const std::vector<std::string> hosts_;
};

}  // namespace holdfast::server
