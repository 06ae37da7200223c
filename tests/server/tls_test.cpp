// SPDX-License-Identifier: Apache-2.0
//
// HTTPS with certificates of the test's own, made by openssl.
#include "server_fixture.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <csignal>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

struct TlsChoices {
  std::string certificate;  // of the client
  std::string key;
  int newest = 0;  // the protocol; 0: any
};

class TlsClient {
 public:
  TlsClient(const std::string& address, const TlsChoices& choices)
      : connection_(address),
        context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free),
        session_(nullptr, &SSL_free) {
    // Old versions would be refused on this side already.
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    if (choices.newest != 0) SSL_CTX_set_max_proto_version(context_.get(), choices.newest);
    if (!choices.certificate.empty()) {
      SSL_CTX_use_certificate_chain_file(context_.get(), choices.certificate.c_str());
      SSL_CTX_use_PrivateKey_file(context_.get(), choices.key.c_str(), SSL_FILETYPE_PEM);
    }
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), connection_.fd());
    is_good_ = SSL_connect(session_.get()) == 1;
  }

  bool is_good() const { return is_good_; }
  std::string server_name() const {
    const std::unique_ptr<X509, decltype(&X509_free)> peer(
        SSL_get1_peer_certificate(session_.get()), &X509_free);
    std::array<char, 256> name{};
    if (peer) {
      X509_NAME_get_text_by_NID(X509_get_subject_name(peer.get()), NID_commonName, name.data(),
                                name.size());
    }
    return name.data();
  }
  // Everything until the server ends.
  std::string ask(const std::string& path) {
    const auto text = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    SSL_write(session_.get(), text.data(), static_cast<int>(text.size()));
    std::string answer;
    std::array<char, 4096> piece{};
    for (;;) {
      const int got = SSL_read(session_.get(), piece.data(), piece.size());
      if (got <= 0) {
        said_goodbye_ = SSL_get_error(session_.get(), got) == SSL_ERROR_ZERO_RETURN;
        ERR_clear_error();
        return answer;
      }
      answer.append(piece.data(), static_cast<std::size_t>(got));
    }
  }
  bool said_goodbye() const { return said_goodbye_; }

 private:
  HttpConnection connection_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> session_;
  bool is_good_ = false;
  bool said_goodbye_ = false;
};

class TlsTest : public ServerTest {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    make_certificate("server", "first.example");
    options.tls.certificate = path("server.pem");
    options.tls.key = path("server.key");
    options.limits.header_timeout = test::stretched(1s);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void make_certificate(const std::string& file, const std::string& name) {
    const auto made =
        test::run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                   "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=" + name,
                   "-keyout", path(file + ".key"), "-out", path(file + ".pem")});
    ASSERT_EQ(made.code, 0) << made.err;
  }
  TlsClient client(const TlsChoices& choices = {}) { return TlsClient(address, choices); }
  std::string ask(const TlsChoices& choices = {}) { return client(choices).ask("/v1/locks"); }
  static bool is_ok(const std::string& answer) { return answer.starts_with("HTTP/1.1 200 "); }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(TlsTest, serves_and_says_goodbye) {
  start();
  auto one = client();
  ASSERT_TRUE(one.is_good());
  EXPECT_EQ(one.server_name(), "first.example");
  EXPECT_TRUE(is_ok(one.ask("/v1/locks")));
  EXPECT_TRUE(one.said_goodbye()) << "else an answer that was cut off looks like a whole one";
}

TEST_F(TlsTest, a_reload_changes_the_certificate_for_new_connections) {
  start();
  auto old = client();
  ASSERT_TRUE(old.is_good());
  make_certificate("server", "second.example");
  ASSERT_TRUE(server->reload());
  EXPECT_EQ(client().server_name(), "second.example");
  EXPECT_TRUE(is_ok(old.ask("/v1/locks")));
}

TEST_F(TlsTest, a_reload_that_fails_changes_nothing) {
  start();
  make_certificate("other", "other.example");
  std::filesystem::copy_file(path("other.key"), path("server.key"),
                             std::filesystem::copy_options::overwrite_existing);
  const auto reloaded = server->reload();
  ASSERT_FALSE(reloaded);
  EXPECT_EQ(reloaded.error().code, Errc::unavailable);
  EXPECT_EQ(client().server_name(), "first.example");
}

TEST_F(TlsTest, old_versions_are_refused) {
  start();
  EXPECT_FALSE(client({.newest = TLS1_VERSION}).is_good());
  EXPECT_FALSE(client({.newest = TLS1_1_VERSION}).is_good());
  EXPECT_TRUE(is_ok(ask({.newest = TLS1_2_VERSION})));
  EXPECT_TRUE(is_ok(ask({.newest = TLS1_3_VERSION})));
}

TEST_F(TlsTest, clients_show_a_certificate_where_it_is_required) {
  make_certificate("client", "client.example");
  make_certificate("stranger", "stranger.example");
  options.tls.client_ca = path("client.pem");
  options.tls.clients = ClientCertificates::required;
  start();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    EXPECT_TRUE(is_ok(ask({path("client.pem"), path("client.key"), version})));
    EXPECT_EQ(ask({path("stranger.pem"), path("stranger.key"), version}), "");
    EXPECT_EQ(ask({.newest = version}), "");
  }
}

TEST_F(TlsTest, clients_may_show_a_certificate_where_it_is_optional_but_no_wrong_one) {
  make_certificate("client", "client.example");
  make_certificate("stranger", "stranger.example");
  options.tls.client_ca = path("client.pem");
  options.tls.clients = ClientCertificates::optional;
  start();
  EXPECT_TRUE(is_ok(ask()));
  EXPECT_TRUE(is_ok(ask({path("client.pem"), path("client.key")})));
  EXPECT_EQ(ask({path("stranger.pem"), path("stranger.key")}), "");
}

TEST_F(TlsTest, plain_http_and_silence_end_soon_and_disturb_nobody) {
  start();
  HttpConnection plain(address);
  plain.send("GET /v1/locks HTTP/1.1\r\nHost: localhost\r\n\r\n");
  HttpConnection silent(address);
  HttpConnection broken(address);
  broken.send("\x16\x03\x01\x40");
  HttpConnection gone(address);
  gone.send("\x16\x03\x01");
  gone.reset();
  EXPECT_TRUE(plain.is_closed_within(3s));
  EXPECT_TRUE(silent.is_closed_within(4s));
  EXPECT_TRUE(broken.is_closed_within(4s));
  EXPECT_TRUE(is_ok(ask()));
}

TEST_F(TlsTest, a_request_that_is_refused_gets_its_answer_before_the_end) {
  start();
  auto one = client();
  ASSERT_TRUE(one.is_good());
  EXPECT_TRUE(one.ask("/ HTTP/9.9\r\nX:").starts_with("HTTP/1.1 505 "));
  EXPECT_TRUE(one.said_goodbye());
}

}  // namespace
}  // namespace holdfast::server
