// SPDX-License-Identifier: Apache-2.0
//
// The client against our own server's end of TLS.
#include "certificates.hpp"
#include "net/http/client.hpp"
#include "net/http/listener.hpp"
#include "net/http/tls_context.hpp"
#include "support/temporary_folder.hpp"
#include "talk.hpp"

#include <boost/asio/post.hpp>

namespace holdfast::test {
namespace {

namespace http = net::http;

class Greeter final : public http::Service {
 public:
  Task<http::Response> handle(const http::Request& request) override {
    return Task<http::Response>(
        http::Response{.body = "hello " + (request.peer ? request.peer->certificate : "")});
  }
  http::Response refuse(const http::RequestReader::Refusal& refusal, const http::Peer&) override {
    return {.status = refusal.status};
  }
};

struct HttpClientTls : testing::Test {
  void serve(const Subject& subject, bool asks_for_certificates = false) {
    const Identity identity = make_identity(folder, authority, subject);
    auto made = http::make_server_context(
        {.certificate = identity.certificate_file,
         .key = identity.key_file,
         .client_ca = asks_for_certificates ? authority.certificate_file : std::string(),
         .needs_client_certificate = asks_for_certificates});
    ASSERT_TRUE(made) << made.error().message;
    workers.push_back(std::make_unique<http::Worker>(greeter, http::ConnectionLimits{},
                                                     [](const http::Peer&) {}));
    listener =
        std::make_unique<http::Listener>(workers, admission, [context = *made] { return context; });
    const auto opened = listener->open({.host = "127.0.0.1"});
    ASSERT_TRUE(opened) << opened.error().message;
    const auto& bound = listener->bound();
    origin.port = static_cast<std::uint16_t>(std::stoul(bound.substr(bound.rfind(':') + 1)));
    origin.tls = net::resp::Tls{.ca_file = authority.certificate_file};
  }
  void TearDown() override {
    if (workers.empty()) return;
    auto& worker = *workers.front();
    boost::asio::post(worker.context(), [&] {
      listener->close();
      worker.close_all();
    });
    EXPECT_TRUE(eventually([&] { return worker.connections() == 0; }));
    worker.stop();
    listener.reset();
  }
  Result<http::ClientResponse> ask() {
    http::Client client(runtime, origin);
    http::ClientRequest request;
    request.deadline = runtime::LocalClock::now() + 60s;
    return runtime::run_blocking(client.send(std::move(request)));
  }

  TemporaryFolder place;
  const std::string folder = place.path();
  const Identity authority = make_authority(folder, "authority");
  Greeter greeter;
  http::Admission admission{100, 100};
  std::vector<std::unique_ptr<http::Worker>> workers;
  std::unique_ptr<http::Listener> listener;
  http::Origin origin;
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
};

TEST_F(HttpClientTls, the_right_authority_and_address_let_in) {
  serve({"server", "IP:127.0.0.1"});
  const auto answer = ask();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "hello ");
}

TEST_F(HttpClientTls, a_certificate_for_another_host_is_refused_before_anything_is_sent) {
  serve({"server", "DNS:elsewhere.example"});
  const auto answer = ask();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::unavailable);
  EXPECT_NE(answer.error().message.find("certificate is refused"), std::string::npos);
}

TEST_F(HttpClientTls, a_certificate_of_another_authority_is_refused) {
  serve({"server", "IP:127.0.0.1"});
  origin.tls->ca_file = make_authority(folder, "somebody").certificate_file;
  EXPECT_EQ(ask().error().code, Errc::unavailable);
}

TEST_F(HttpClientTls, a_client_shows_its_own_certificate) {
  serve({"server", "IP:127.0.0.1"}, true);
  EXPECT_FALSE(ask());
  const Identity mine = make_identity(folder, authority, {"anna", "DNS:anna.example"});
  origin.tls->certificate = mine.certificate_file;
  origin.tls->private_key = mine.key_file;
  const auto answer = ask();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "hello anna");
}

}  // namespace
}  // namespace holdfast::test
