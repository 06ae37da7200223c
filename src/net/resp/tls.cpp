// SPDX-License-Identifier: Apache-2.0
#include "net/resp/tls.hpp"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace holdfast::net::resp {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

// A connection that is being closed may still shake hands on the runtime's thread while the program
// ends: OpenSSL must not take its tables away under it. The first to say so is heard, so this is
// said before main.
[[maybe_unused]] const int stays_until_the_end =
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);

std::unexpected<Error> cannot_read(std::string_view what, const std::string& path,
                                   const error_code& why) {
  return fail(Errc::unavailable, fmt::format("cannot use {} {}: {}", what, path, why.message()));
}

Result<void> load_own_certificate(ssl::context& context, const Tls& tls) {
  if (tls.certificate.empty()) return {};
  error_code failed;
  if (context.use_certificate_chain_file(tls.certificate, failed)) {
    return cannot_read("the certificate", tls.certificate, failed);
  }
  const auto& key = tls.private_key.empty() ? tls.certificate : tls.private_key;
  if (context.use_private_key_file(key, ssl::context::pem, failed)) {
    return cannot_read("the private key", key, failed);
  }
  return {};
}

}  // namespace

Result<ssl::context> make_tls_context(const Tls& tls) {
  ssl::context context(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  error_code failed;
  if (context.set_verify_mode(ssl::verify_peer, failed))
    return fail(Errc::unavailable, failed.message());
  if (tls.ca_file.empty()) {
    if (context.set_default_verify_paths(failed)) {
      return cannot_read("the system's authorities", "", failed);
    }
  } else if (context.load_verify_file(tls.ca_file, failed)) {
    return cannot_read("the authority", tls.ca_file, failed);
  }
  if (auto loaded = load_own_certificate(context, tls); !loaded) {
    return std::unexpected(std::move(loaded.error()));
  }
  return context;
}

Result<void> expect_peer(SSL* session, const std::string& name) {
  if (name.empty()) return fail(Errc::unavailable, "TLS needs a server name to verify");
  error_code is_no_address;
  boost::asio::ip::make_address(name, is_no_address);
  bool is_set = false;
  if (is_no_address) {
    SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    is_set = SSL_set1_host(session, name.c_str()) == 1 &&
             SSL_set_tlsext_host_name(session, name.c_str()) == 1;
  } else {
    is_set = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name.c_str()) == 1;
  }
  // Without a name to compare with, any certificate of the authority would do.
  if (!is_set) return fail(Errc::unavailable, fmt::format("cannot verify the name {}", name));
  return {};
}

std::string explain_handshake(SSL* session, const error_code& failed) {
  const long verdict = SSL_get_verify_result(session);
  if (verdict == X509_V_OK) return fmt::format("TLS handshake failed: {}", failed.message());
  return fmt::format("the server's certificate is refused: {}",
                     X509_verify_cert_error_string(verdict));
}

}  // namespace holdfast::net::resp
