// SPDX-License-Identifier: Apache-2.0
#include "net/http/client.hpp"
#include "raw_server.hpp"
#include "talk.hpp"

#include <mutex>

namespace holdfast::test {
namespace {

using net::http::Client;
using net::http::ClientResponse;
using net::http::Origin;
using net::http::StreamEvents;

// What a stream has told so far.
struct Told {
  StreamEvents events() {
    return {.opened = [this](const ClientResponse& head) { note([&] { status = head.status; }); },
            .bytes = [this](std::string_view more) { note([&] { bytes.append(more); }); },
            .closed =
                [this](Error error, std::optional<ClientResponse> answer) {
                  note([&] {
                    why = error.message;
                    refusal = answer ? answer->body : "";
                    is_closed = true;
                  });
                }};
  }
  void note(const std::function<void()>& what) {
    const std::lock_guard lock(mutex);
    what();
  }
  bool comes(const std::function<bool()>& condition) {
    return eventually([&] {
      const std::lock_guard lock(mutex);
      return condition();
    });
  }

  std::mutex mutex;
  int status = 0;
  std::string bytes;
  std::string why;
  std::string refusal;
  bool is_closed = false;
};

struct HttpClientStreamTest : testing::Test {
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
  Told told;
};

TEST_F(HttpClientStreamTest, pieces_are_told_as_they_come_and_the_end_too) {
  std::promise<void> heard;
  const RawServer server([&](RawPeer& peer, int) {
    peer.request();
    peer.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
    heard.get_future().wait();
    peer.say("4\r\ntwo\n\r\n0\r\n\r\n");
    peer.request();
  });
  Client client(runtime, Origin{.port = server.port()});
  const auto stream = client.open_stream({.target = "/stream"}, told.events());
  EXPECT_TRUE(told.comes([&] { return told.bytes == "one\n"; }));
  EXPECT_EQ(told.status, 200);
  heard.set_value();
  EXPECT_TRUE(told.comes([&] { return told.is_closed && told.bytes == "one\ntwo\n"; }));
}

TEST_F(HttpClientStreamTest, a_refusal_comes_with_its_body) {
  const RawServer server([](RawPeer& peer, int) {
    peer.request();
    peer.say("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
  });
  Client client(runtime, Origin{.port = server.port()});
  const auto stream = client.open_stream({}, told.events());
  EXPECT_TRUE(told.comes([&] { return told.is_closed; }));
  EXPECT_EQ(told.refusal, "no");
  EXPECT_EQ(told.status, 0);
}

TEST_F(HttpClientStreamTest, a_server_that_is_not_there_closes_it) {
  Client client(runtime, Origin{.port = 1});
  const auto stream = client.open_stream({}, told.events());
  EXPECT_TRUE(told.comes([&] { return told.is_closed; }));
  EXPECT_NE(told.why.find("cannot connect"), std::string::npos);
}

TEST_F(HttpClientStreamTest, letting_it_go_ends_the_connection_and_tells_nothing) {
  std::promise<void> ended;
  const RawServer server([&](RawPeer& peer, int) {
    peer.request();
    peer.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
    peer.request();
    ended.set_value();
  });
  Client client(runtime, Origin{.port = server.port()});
  auto stream = client.open_stream({}, told.events());
  EXPECT_TRUE(told.comes([&] { return told.bytes == "x"; }));
  stream.reset();
  EXPECT_EQ(ended.get_future().wait_for(60s), std::future_status::ready);
  EXPECT_FALSE(told.is_closed);
}

}  // namespace
}  // namespace holdfast::test
