// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "net/http/channel.hpp"

#include <string>

namespace holdfast::net::http {

struct ServerTls {
  std::string certificate;  // PEM, the whole chain
  std::string key;          // PEM
  std::string client_ca;    // PEM; empty: clients are not asked for a certificate
  bool needs_client_certificate = false;
};

// TLS 1.2 or newer. Errors: unavailable with the file and the reason.
Result<Channel::TlsContext> make_server_context(const ServerTls& tls);

}  // namespace holdfast::net::http
