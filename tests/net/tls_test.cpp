// SPDX-License-Identifier: Apache-2.0
#include "certificates.hpp"
#include "net/resp/connection.hpp"
#include "net/resp/subscriber.hpp"
#include "talk.hpp"

#include <fmt/format.h>

#include <vector>

namespace holdfast::test {
namespace {

using net::resp::command;
using net::resp::Tls;

struct TlsTest : testing::Test {
  // A server with this certificate. A TLS port that somebody else took is worth a second try.
  std::unique_ptr<RedisServer> serve(const Subject& subject, const std::string& clients = "no") {
    const Identity identity = make_identity(folder, authority, subject);
    for (int attempt = 0; attempt < 3; ++attempt) {
      port = free_port();
      try {
        return std::make_unique<RedisServer>(std::vector<std::string>{
            "--tls-port", std::to_string(port), "--tls-cert-file", identity.certificate_file,
            "--tls-key-file", identity.key_file, "--tls-ca-cert-file", authority.certificate_file,
            "--tls-auth-clients", clients});
      } catch (const std::runtime_error&) {
      }
    }
    throw std::runtime_error("no server with TLS");
  }
  Endpoint endpoint() const {
    auto made = endpoint_at(port);
    made.tls = Tls{.ca_file = authority.certificate_file};
    return made;
  }
  // Why a connection is refused, or "" when it is not.
  std::string refusal(const Endpoint& to) const {
    Connection connection(runtime, to);
    const auto reply = ask(connection, command("PING"));
    if (reply) return "";
    EXPECT_EQ(reply.error().code, Errc::unavailable);
    return reply.error().message;
  }

  TemporaryFolder place;
  const std::string folder = place.path();
  const Identity authority = make_authority(folder, "authority");
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
  std::uint16_t port = 0;
};

TEST_F(TlsTest, the_right_authority_and_address_let_in) {
  const auto server = serve({"server", "IP:127.0.0.1"});
  Connection connection(runtime, endpoint());
  EXPECT_EQ(ask(connection, command("ECHO", "secret")), "secret");
}

TEST_F(TlsTest, the_name_is_that_of_the_host_or_the_one_given) {
  const auto server = serve({"server", "DNS:localhost,DNS:redis.example"});
  auto by_host = endpoint();
  by_host.host = "localhost";
  EXPECT_EQ(refusal(by_host), "");
  auto by_name = endpoint();
  by_name.tls->server_name = "redis.example";
  EXPECT_EQ(refusal(by_name), "");
}

TEST_F(TlsTest, another_authority_is_refused) {
  const auto server = serve({"server", "IP:127.0.0.1"});
  const Identity other = make_authority(folder, "other");
  auto wrong = endpoint();
  wrong.tls->ca_file = other.certificate_file;
  const auto why = refusal(wrong);
  EXPECT_TRUE(why.contains("certificate is refused")) << why;
}

TEST_F(TlsTest, without_a_given_authority_the_systems_decide) {
  const auto server = serve({"server", "IP:127.0.0.1"});
  auto wrong = endpoint();
  wrong.tls->ca_file.clear();
  const auto why = refusal(wrong);
  EXPECT_TRUE(why.contains("certificate is refused")) << why;
}

TEST_F(TlsTest, another_host_name_is_refused) {
  const auto server = serve({"server", "DNS:redis.example"});
  auto wrong = endpoint();
  wrong.host = "localhost";
  const auto why = refusal(wrong);
  EXPECT_TRUE(why.contains("ostname mismatch")) << why;
  EXPECT_TRUE(why.contains("localhost")) << why;
}

TEST_F(TlsTest, another_address_is_refused) {
  const auto server = serve({"server", "DNS:localhost,IP:127.0.0.2"});
  const auto why = refusal(endpoint());
  EXPECT_TRUE(why.contains("IP address mismatch")) << why;
}

TEST_F(TlsTest, an_expired_certificate_is_refused) {
  const auto server = serve({"server", "IP:127.0.0.1", -60});
  const auto why = refusal(endpoint());
  EXPECT_TRUE(why.contains("expired")) << why;
}

TEST_F(TlsTest, an_authority_that_cannot_be_read_is_named) {
  const auto server = serve({"server", "IP:127.0.0.1"});
  auto wrong = endpoint();
  wrong.tls->ca_file = "/nowhere/ca.crt";
  const auto why = refusal(wrong);
  EXPECT_TRUE(why.contains("/nowhere/ca.crt")) << why;
}

TEST_F(TlsTest, a_server_that_asks_for_a_certificate_gets_ours) {
  const auto server = serve({"server", "IP:127.0.0.1"}, "yes");
  const Identity own = make_identity(folder, authority, {"client", ""});
  auto with = endpoint();
  with.tls->certificate = own.certificate_file;
  with.tls->private_key = own.key_file;
  EXPECT_EQ(refusal(with), "");
  const auto why = refusal(endpoint());
  EXPECT_TRUE(why.contains("client certificate")) << why;
}

TEST_F(TlsTest, a_server_without_tls_is_refused) {
  const auto server = serve({"server", "IP:127.0.0.1"});
  port = server->port();
  auto hasty = endpoint();
  hasty.connect_timeout = 300ms;
  EXPECT_NE(refusal(hasty), "");
}

TEST_F(TlsTest, threads_that_share_it_get_their_own_replies) {
  const auto server = serve({"server", "IP:127.0.0.1"});
  Connection connection(runtime, endpoint());
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        const auto text = fmt::format("{}-{}-{}", thread, i, std::string(i * 100, 'x'));
        if (ask(connection, command("ECHO", text)) != text) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(TlsTest, a_killed_server_is_found_again) {
  const auto server = serve({"server", "IP:127.0.0.1"});
  Connection connection(runtime, endpoint());
  ASSERT_EQ(ask(connection, command("PING")), "PONG");
  server->restart();
  ASSERT_TRUE(eventually([&] { return ask(connection, command("PING")) == "PONG"; }));
}

TEST_F(TlsTest, messages_arrive_as_well) {
  const auto server = serve({"server", "IP:127.0.0.1"});
  std::atomic<int> messages = 0;
  auto chatty = endpoint();
  chatty.silence = 20ms;
  Subscriber subscriber(runtime, chatty, {"a"},
                        {.message = [&](std::string_view, const redisReply&) { ++messages; }});
  ASSERT_TRUE(runtime::run_blocking(subscriber.subscribed(runtime->now() + 60s)));
  RawRedis raw(*server);
  const auto pings = [&] {
    const auto info = raw.text({"INFO", "commandstats"});
    return std::stoll(info.substr(info.find("cmdstat_ping:calls=") + 19));
  };
  for (int i = 0; i < 5; ++i) {
    const auto before = pings();
    ASSERT_TRUE(eventually([&] { return pings() > before; })) << "it asks whether we are there";
    raw.call({"PUBLISH", "a", "x"});
    EXPECT_TRUE(eventually([&] { return messages == i + 1; }));
  }
}

}  // namespace
}  // namespace holdfast::test
