// SPDX-License-Identifier: Apache-2.0
#include "net/http/client.hpp"
#include "raw_server.hpp"
#include "support/fault_proxy.hpp"
#include "talk.hpp"

#include <fmt/format.h>

namespace holdfast::test {
namespace {

using net::http::Client;
using net::http::ClientRequest;
using net::http::ClientResponse;
using net::http::Origin;

std::string ok(std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

struct HttpClientTest : testing::Test {
  Client client_of(const RawServer& server, std::size_t connections = 8) {
    return Client(runtime, Origin{.port = server.port(), .max_connections = connections});
  }
  static ClientRequest request(std::chrono::milliseconds patience = 60s) {
    ClientRequest made{.target = "/x"};
    made.deadline = runtime::LocalClock::now() + patience;
    return made;
  }
  static Result<ClientResponse> ask(Client& client, ClientRequest what = request()) {
    return runtime::run_blocking(client.send(std::move(what)));
  }
  static Errc failure(Client& client, ClientRequest what = request()) {
    const auto answer = ask(client, std::move(what));
    return answer ? Errc{} : answer.error().code;
  }

  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
};

TEST_F(HttpClientTest, a_request_arrives_whole_and_its_answer_comes_back) {
  std::string seen;
  const RawServer server([&](RawPeer& peer, int) {
    seen = peer.request();
    peer.say("HTTP/1.1 201 Created\r\nX-One: 1\r\nContent-Length: 4\r\n\r\nbody");
  });
  Client client(runtime, Origin{.port = server.port(), .headers = {{"Authorization", "Bearer t"}}});
  auto what = request();
  what.method = "POST";
  what.headers = {{"X-Two", "2\r\nX-Three: 3"}};
  what.body = "hello";
  const auto answer = ask(client, std::move(what));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->header("x-one"), "1");
  EXPECT_EQ(answer->body, "body");
  EXPECT_EQ(seen,
            fmt::format("POST /x HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer t\r\n"
                        "X-Two: 2  X-Three: 3\r\nContent-Length: 5\r\n\r\nhello",
                        server.port()));
}

TEST_F(HttpClientTest, a_connection_is_used_again) {
  const RawServer server([](RawPeer& peer, int) {
    while (!peer.request().empty()) peer.say(ok("again"));
  });
  Client client = client_of(server);
  for (int each = 0; each < 10; ++each) ASSERT_EQ(ask(client)->body, "again");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpClientTest, no_more_connections_are_made_than_allowed) {
  std::promise<void> all_asked;
  const RawServer server([go = all_asked.get_future().share()](RawPeer& peer, int) {
    while (!peer.request().empty()) {
      go.wait();
      peer.say(ok("yes"));
    }
  });
  Client client = client_of(server, 2);
  std::vector<std::promise<bool>> answers(12);
  for (auto& each : answers) {
    runtime::spawn(client.send(request()), [&each](Result<ClientResponse>&& answer) {
      each.set_value(answer.has_value());
    });
  }
  all_asked.set_value();
  for (auto& each : answers) EXPECT_TRUE(each.get_future().get());
  EXPECT_LE(server.connections(), 2);
}

TEST_F(HttpClientTest, bodies_come_in_chunks_or_until_the_connection_ends) {
  const RawServer server([](RawPeer& peer, int nth) {
    peer.request();
    if (nth == 0) {
      peer.say(
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
          "Connection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    } else {
      peer.say("HTTP/1.1 200 OK\r\n\r\nuntil the end");
    }
  });
  FaultProxy proxy(server.port());
  proxy.byte_by_byte(true);
  Client client(runtime, Origin{.port = proxy.port()});
  EXPECT_EQ(ask(client)->body, "abcde");
  EXPECT_EQ(ask(client)->body, "until the end");
}

TEST_F(HttpClientTest, a_body_that_is_too_long_is_not_read) {
  const RawServer server([](RawPeer& peer, int) {
    peer.request();
    peer.say("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n");
    peer.request();
  });
  Client client = client_of(server);
  EXPECT_EQ(failure(client), Errc::outcome_unknown);
}

TEST_F(HttpClientTest, a_refused_connection_is_known_to_have_sent_nothing) {
  std::uint16_t port = 0;
  {
    const RawServer server([](RawPeer&, int) {});
    port = server.port();
  }
  Client client(runtime, Origin{.port = port});
  const auto answer = ask(client);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::unavailable);
  EXPECT_NE(answer.error().message.find(fmt::format("http://127.0.0.1:{}", port)),
            std::string::npos);
}

TEST_F(HttpClientTest, no_answer_before_the_deadline_leaves_it_open_what_happened) {
  const RawServer server([](RawPeer& peer, int) {
    while (!peer.request().empty()) {
    }
  });
  Client client = client_of(server, 1);
  // Asks until it is sent before its time is over.
  const auto ask_in_vain = [&] {
    Errc code = Errc::unavailable;
    eventually([&] { return (code = failure(client, request(30ms))) != Errc::unavailable; });
    return code;
  };
  EXPECT_EQ(ask_in_vain(), Errc::outcome_unknown);
  const int before = server.connections();
  // The late answer would have come on the same connection.
  EXPECT_EQ(ask_in_vain(), Errc::outcome_unknown);
  EXPECT_GT(server.connections(), before);
}

TEST_F(HttpClientTest, a_request_that_waited_for_a_connection_in_vain_was_not_sent) {
  const RawServer server([](RawPeer& peer, int) {
    while (!peer.request().empty()) {
    }
  });
  Client client = client_of(server, 1);
  std::stop_source stop;
  auto what = request();
  what.stop = stop.get_token();
  auto first = std::async(std::launch::async, [&] { return failure(client, what); });
  ASSERT_TRUE(eventually([&] { return server.connections() == 1; }));
  EXPECT_EQ(failure(client, request(30ms)), Errc::unavailable);
  stop.request_stop();
  EXPECT_NE(first.get(), Errc::unavailable);
}

TEST_F(HttpClientTest, a_stop_ends_the_wait_at_once) {
  const RawServer server([](RawPeer& peer, int) {
    while (!peer.request().empty()) {
    }
  });
  Client client = client_of(server);
  std::stop_source stop;
  auto what = request(60s);
  what.stop = stop.get_token();
  auto asking = std::async(std::launch::async, [&, what] { return failure(client, what); });
  ASSERT_TRUE(eventually([&] { return server.connections() == 1; }));
  stop.request_stop();
  const auto code = asking.get();
  EXPECT_TRUE(code == Errc::outcome_unknown || code == Errc::cancelled);
  EXPECT_EQ(failure(client, what), Errc::cancelled);
}

// Closes every connection at the second request, without a word.
void drop_the_second(RawPeer& peer, int) {
  peer.request();
  peer.say(ok("first"));
  peer.request();
}

TEST_F(HttpClientTest, a_repeatable_request_survives_a_connection_that_died_of_old_age) {
  const RawServer server(drop_the_second);
  Client client = client_of(server);
  auto what = request();
  what.repeatable = true;
  for (int each = 0; each < 5; ++each) EXPECT_TRUE(ask(client, what));
}

TEST_F(HttpClientTest, another_request_is_not_sent_twice) {
  const RawServer server(drop_the_second);
  Client client = client_of(server);
  EXPECT_TRUE(ask(client));
  EXPECT_EQ(failure(client), Errc::outcome_unknown);
}

TEST_F(HttpClientTest, a_repetition_that_is_refused_does_not_hide_that_the_first_was_sent) {
  RawServer* itself = nullptr;
  RawServer server([&](RawPeer& peer, int) {
    peer.request();
    peer.say(ok("first"));
    peer.request();
    itself->stop_accepting();
  });
  itself = &server;
  Client client = client_of(server);
  EXPECT_TRUE(ask(client));
  auto what = request();
  what.repeatable = true;
  EXPECT_EQ(failure(client, what), Errc::outcome_unknown);
}

TEST_F(HttpClientTest, what_is_no_http_is_an_error) {
  const RawServer server([](RawPeer& peer, int) {
    peer.request();
    peer.say("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  });
  Client client = client_of(server);
  EXPECT_EQ(failure(client), Errc::outcome_unknown);
}

TEST_F(HttpClientTest, a_client_may_go_while_a_request_is_under_way) {
  const RawServer server([](RawPeer& peer, int) {
    while (!peer.request().empty()) {
    }
  });
  std::promise<Errc> end;
  {
    Client client = client_of(server);
    runtime::spawn(client.send(request(60s)),
                   [&](Result<ClientResponse>&& answer) { end.set_value(answer.error().code); });
    ASSERT_TRUE(eventually([&] { return server.connections() == 1; }));
  }
  const auto code = end.get_future().get();
  EXPECT_TRUE(code == Errc::outcome_unknown || code == Errc::unavailable);
}

}  // namespace
}  // namespace holdfast::test
