// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "net/resp/endpoint.hpp"

#include <boost/asio/ssl/context.hpp>

#include <string>

namespace holdfast::net::resp {

// TLS 1.2 or newer, and a peer whose certificate does not hold is never talked to.
Result<boost::asio::ssl::context> make_tls_context(const Tls& tls);

// The certificate must be for this host name or IP address.
Result<void> expect_peer(SSL* session, const std::string& name);

// Why a handshake failed, in words that name what is wrong with the certificate if that is it.
std::string explain_handshake(SSL* session, const boost::system::error_code& failed);

}  // namespace holdfast::net::resp
