// SPDX-License-Identifier: Apache-2.0
#include "net/http/tls_context.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>

namespace holdfast::net::http {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

std::unexpected<Error> cannot_use(std::string_view what, const std::string& path,
                                  const error_code& why) {
  return fail(Errc::unavailable,
              fmt::format("tls: cannot use {} {}: {}", what, path, why.message()));
}

Result<void> ask_for_certificates(ssl::context& context, const ServerTls& tls) {
  if (tls.client_ca.empty()) return {};
  error_code failed;
  if (context.load_verify_file(tls.client_ca, failed)) {
    return cannot_use("the authority", tls.client_ca, failed);
  }
  SSL_CTX_set_client_CA_list(context.native_handle(),
                             SSL_load_client_CA_file(tls.client_ca.c_str()));
  const auto mode = tls.needs_client_certificate
                        ? ssl::verify_peer | ssl::verify_fail_if_no_peer_cert
                        : ssl::verify_peer;
  if (context.set_verify_mode(mode, failed)) {
    return cannot_use("the authority", tls.client_ca, failed);
  }
  return {};
}

}  // namespace

Result<Channel::TlsContext> make_server_context(const ServerTls& tls) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // A session that is taken up again must not outlive the certificates it was made with.
  SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  error_code failed;
  if (context->use_certificate_chain_file(tls.certificate, failed)) {
    return cannot_use("the certificate", tls.certificate, failed);
  }
  if (context->use_private_key_file(tls.key, ssl::context::pem, failed)) {
    return cannot_use("the private key", tls.key, failed);
  }
  if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
    return fail(Errc::unavailable, fmt::format("tls: the private key {} does not belong to {}",
                                               tls.key, tls.certificate));
  }
  if (auto good = ask_for_certificates(*context, tls); !good) {
    return std::unexpected(std::move(good.error()));
  }
  return context;
}

}  // namespace holdfast::net::http
