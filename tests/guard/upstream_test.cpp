// SPDX-License-Identifier: Apache-2.0
//
// What the upstream gets, and what becomes of its answers.
#include "guard_fixture.hpp"

#include <numeric>

namespace holdfast::guard {
namespace {

class UpstreamTest : public GuardTest {
 protected:
  // Everything that is answered is these bytes.
  void start_saying(std::string bytes, bool close = false) {
    start([bytes = std::move(bytes), close](const Seen&, Upstream::Talk& talk) {
      talk.send(bytes);
      if (close) talk.close();
    });
  }
  Seen only_seen() const {
    const auto all = upstream->seen();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Seen{} : all.front();
  }
};

TEST_F(UpstreamTest, a_request_is_passed_on_with_its_fields_and_its_body) {
  start();
  const auto answer = call({.method = "PUT",
                            .path = "/a/b?c=d&e",
                            .body = "hello",
                            .headers = {{"Holdfast-Fence", "7"}, {"X-Mine", "1"}}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "ok");
  EXPECT_EQ(answer.header("content-type"), "text/plain");
  const auto seen = only_seen();
  EXPECT_EQ(seen.line, "PUT /a/b?c=d&e HTTP/1.1");
  EXPECT_EQ(seen.body, "hello");
  EXPECT_EQ(seen.header("Host"), address);
  EXPECT_EQ(seen.header("Holdfast-Fence"), "7");
  EXPECT_EQ(seen.header("X-Mine"), "1");
  EXPECT_EQ(seen.header("X-Forwarded-For"), "127.0.0.1");
  EXPECT_EQ(seen.header("X-Forwarded-Proto"), "http");
  EXPECT_EQ(seen.header("X-Forwarded-Host"), address);
  EXPECT_EQ(seen.header("Via"), "1.1 holdfast");
  EXPECT_EQ(seen.header("Content-Length"), "5");
}

TEST_F(UpstreamTest, a_proxy_on_this_machine_is_believed) {
  start();
  call({.path = "/",
        .headers = {{"X-Forwarded-For", "10.0.0.1"},
                    {"X-Forwarded-Proto", "https"},
                    {"X-Forwarded-Host", "shop.example"}}});
  const auto seen = only_seen();
  EXPECT_EQ(seen.header("X-Forwarded-For"), "10.0.0.1, 127.0.0.1");
  EXPECT_EQ(seen.header("X-Forwarded-Proto"), "https");
  EXPECT_EQ(seen.header("X-Forwarded-Host"), "shop.example");
}

TEST_F(UpstreamTest, the_host_may_be_the_upstreams) {
  options.host = HostRule::upstream;
  start();
  call({.path = "/"});
  EXPECT_EQ(only_seen().header("Host"), upstream->address());
  EXPECT_EQ(only_seen().header("X-Forwarded-Host"), address);
}

TEST_F(UpstreamTest, a_base_path_stands_before_every_path) {
  upstream = std::make_unique<Upstream>();
  start_before(upstream->url() + "/base/");
  call({.path = "/a?b"});
  EXPECT_EQ(only_seen().line, "GET /base/a?b HTTP/1.1");
}

TEST_F(UpstreamTest, targets_arrive_as_they_were_sent) {
  start();
  HttpConnection connection(address);
  const std::pair<std::string, std::string> targets[] = {
      {"/", "/"},
      {"/?", "/?"},
      {"/x?", "/x?"},
      {"/%41%2f//x;y=z", "/%41%2f//x;y=z"},
      {"http://other.example/p?q", "/p?q"},
      {"http://other.example", "/"},
  };
  for (const auto& [sent, got] : targets) {
    connection.send("GET " + sent + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(connection.receive().status, 200) << sent;
    EXPECT_EQ(upstream->seen().back().line, "GET " + got + " HTTP/1.1");
  }
  EXPECT_EQ(upstream->seen().back().header("Host"), "other.example")
      << "an absolute target says which host it is for";
  connection.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(connection.receive().status, 200);
  EXPECT_EQ(upstream->seen().back().line, "OPTIONS * HTTP/1.1");
}

TEST_F(UpstreamTest, fields_of_one_hop_do_not_reach_the_upstream_nor_can_they_take_others_away) {
  start();
  const auto answer = raw(
      "POST /a HTTP/1.1\r\nHost: a\r\nConnection: X-Secret, Host, Content-Length, "
      "X-Forwarded-For\r\n"
      "X-Secret: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nTrailer: X-T\r\nProxy-Authorization: x\r\n"
      "Proxy-Connection: keep-alive\r\nExpect: 100-continue\r\nHoldfast-Fence: 7\r\n"
      "Content-Length: 5\r\n\r\nhello");
  EXPECT_EQ(answer.status, 200);
  const auto seen = only_seen();
  for (const auto* name : {"Connection", "X-Secret", "Keep-Alive", "TE", "Trailer",
                           "Proxy-Authorization", "Proxy-Connection", "Expect"}) {
    EXPECT_EQ(seen.header(name), "(none)") << name;
  }
  EXPECT_EQ(seen.header("Host"), "a");
  EXPECT_EQ(seen.header("Content-Length"), "5");
  EXPECT_EQ(seen.header("X-Forwarded-For"), "127.0.0.1");
  EXPECT_EQ(seen.body, "hello");
}

TEST_F(UpstreamTest, whoever_asks_whether_to_go_on_is_told_so_before_the_upstream_is_asked) {
  start();
  HttpConnection connection(address);
  connection.send(
      "PUT /a HTTP/1.1\r\nHost: a\r\nHoldfast-Fence: 7\r\nExpect: 100-continue\r\n"
      "Content-Length: 5\r\n\r\n");
  EXPECT_EQ(connection.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(upstream->count(), 0U);
  connection.send("hello");
  EXPECT_EQ(connection.receive().status, 200);
  EXPECT_EQ(only_seen().body, "hello");
}

TEST_F(UpstreamTest, a_body_in_chunks_arrives_with_its_length) {
  start();
  EXPECT_EQ(raw("PUT /a HTTP/1.1\r\nHost: a\r\nHoldfast-Fence: 7\r\nTransfer-Encoding: chunked\r\n"
                "\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n")
                .status,
            200);
  EXPECT_EQ(only_seen().body, "hello");
  EXPECT_EQ(only_seen().header("Content-Length"), "5");
  EXPECT_EQ(only_seen().header("Transfer-Encoding"), "(none)");
}

TEST_F(UpstreamTest, a_long_body_arrives_whole_and_one_beyond_the_limit_not_at_all) {
  options.max_body_bytes = 3 << 20U;
  start();
  std::string body(options.max_body_bytes, '\0');
  std::iota(body.begin(), body.end(), '\0');
  EXPECT_EQ(post("/a", "7", body).status, 200);
  EXPECT_TRUE(only_seen().body == body);
  const auto answer = post("/a", "7", body + "x");
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.code(), "body_too_long");
  EXPECT_EQ(upstream->count(), 1U);
}

TEST_F(UpstreamTest, connections_are_used_again_on_both_sides) {
  start();
  HttpConnection connection(address);
  for (int i = 0; i < 20; ++i) {
    connection.send(test::request_text({.path = "/a"}, address));
    EXPECT_EQ(connection.receive().status, 200);
  }
  EXPECT_EQ(upstream->seen().back().connection, 1);
}

TEST_F(UpstreamTest, requests_in_a_row_without_waiting_are_answered_in_their_order) {
  start([](const Seen& seen, Upstream::Talk& talk) {
    const auto path = seen.line.substr(4, seen.line.find(' ', 4) - 4);
    talk.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", path.size(), path));
  });
  HttpConnection connection(address);
  std::string all;
  for (int i = 0; i < 50; ++i) all += fmt::format("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", i);
  connection.send(all);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(connection.receive().body, fmt::format("/{}", i));
}

TEST_F(UpstreamTest, an_upstream_that_closes_after_each_answer_is_connected_to_again) {
  start_saying("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", true);
  HttpConnection connection(address);
  for (int i = 1; i <= 3; ++i) {
    connection.send(test::request_text({.path = "/a"}, address));
    const auto answer = connection.receive();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("connection"), "") << "that was between the two of them";
  }
  EXPECT_EQ(upstream->seen().back().connection, 3);
}

TEST_F(UpstreamTest, an_upstream_that_closes_without_a_word_is_noticed_before_the_next_request) {
  std::atomic<int> noticed = 0;
  start([&](const Seen& seen, Upstream::Talk& talk) {
    Upstream::answer_ok(seen, talk);
    talk.end_sending();
    if (talk.is_left(1min)) ++noticed;
    talk.close();
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(call({.path = "/a"}).status, 200);
    ASSERT_TRUE(eventually([&] { return noticed == i + 1; }));
  }
}

TEST_F(UpstreamTest, an_answer_in_chunks_or_without_a_length_comes_through) {
  start_saying(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n");
  EXPECT_EQ(call({.path = "/a"}).body, "hello");
  TearDown();
  start_saying("HTTP/1.1 200 OK\r\n\r\nhello", true);
  EXPECT_EQ(call({.path = "/a"}).body, "hello");
}

TEST_F(UpstreamTest, an_answer_comes_through_piece_by_piece_while_it_is_made) {
  std::latch may_end(1);
  start([&](const Seen&, Upstream::Talk& talk) {
    talk.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    may_end.wait();
    talk.send("4\r\nlast\r\n0\r\n\r\n");
  });
  HttpConnection connection(address);
  connection.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(connection.receive_until("first\r\n").ends_with("\r\n\r\n5\r\nfirst\r\n"));
  may_end.count_down();
  EXPECT_EQ(connection.receive_until("0\r\n\r\n"), "4\r\nlast\r\n0\r\n\r\n");
  connection.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(connection.receive().body, "firstlast") << "the connection goes on";
  EXPECT_EQ(upstream->seen().back().connection, 1);
}

TEST_F(UpstreamTest, a_client_of_http_1_0_gets_a_body_that_ends_with_the_connection) {
  start_saying("HTTP/1.1 200 OK\r\n\r\nhello", true);
  HttpConnection connection(address);
  connection.send("GET /a HTTP/1.0\r\n\r\n");
  const auto all = connection.receive_to_end();
  EXPECT_TRUE(all.ends_with("Connection: close\r\n\r\nhello")) << all;
  EXPECT_FALSE(all.contains("chunked")) << all;
}

TEST_F(UpstreamTest, a_huge_answer_comes_through_whole_and_is_never_gathered) {
  static constexpr std::size_t size = 64 << 20U;
  start([](const Seen&, Upstream::Talk& talk) {
    talk.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", size));
    const std::string piece(1 << 20U, 'x');
    for (std::size_t sent = 0; sent < size; sent += piece.size()) talk.send(piece);
  });
  const auto answer = call({.path = "/a"});
  EXPECT_EQ(answer.body.size(), size);
}

TEST_F(UpstreamTest, an_answer_to_head_has_no_body_and_says_how_long_it_would_be) {
  start_saying("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n");
  HttpConnection connection(address);
  for (int i = 0; i < 2; ++i) {
    connection.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(connection.receive_until("\r\n\r\n"), "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n");
  }
}

TEST_F(UpstreamTest, any_status_comes_through_as_it_is) {
  for (const auto* status : {"204 No Content", "304 Not Modified", "404 Nobody Here", "500 Sorry",
                             "418 I'm a teapot", "599 "}) {
    const bool has_body = status[0] > '3';
    start_saying(fmt::format("HTTP/1.1 {}\r\n{}ETag: \"a\"\r\n\r\n", status,
                             has_body ? "Content-Length: 0\r\n" : ""));
    HttpConnection connection(address);
    connection.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto answer = connection.receive_until("\r\n\r\n");
    EXPECT_TRUE(answer.starts_with(fmt::format("HTTP/1.1 {}\r\nETag: \"a\"\r\n", status)))
        << answer;
    EXPECT_EQ(answer.contains("Content-Length"), has_body) << answer;
    TearDown();
  }
}

TEST_F(UpstreamTest, nobody_there_is_a_502_that_says_that_nothing_was_sent) {
  std::string nobody;
  {
    const Upstream briefly;
    nobody = briefly.url();
  }
  start_before(nobody);
  const auto answer = post("/a", "7");
  EXPECT_EQ(answer.status, 502);
  EXPECT_EQ(answer.code(), "upstream_unreachable");
  EXPECT_TRUE(answer.text("detail").contains("got nothing")) << answer.body;
}

TEST_F(UpstreamTest, an_upstream_that_breaks_off_is_a_502_and_is_not_asked_again) {
  start([](const Seen&, Upstream::Talk& talk) { talk.close(); });
  for (const auto* method : {"GET", "PUT"}) {
    const auto before = upstream->count();
    const auto answer =
        call({.method = method, .path = "/a", .headers = {{"Holdfast-Fence", "7"}}});
    EXPECT_EQ(answer.status, 502);
    EXPECT_EQ(answer.code(), "upstream_failed");
    EXPECT_TRUE(answer.text("detail").contains("may have done what was asked")) << answer.body;
    EXPECT_EQ(upstream->count(), before + 1);
  }
}

TEST_F(UpstreamTest, an_answer_that_is_none_is_a_502) {
  for (const auto* bytes : {"hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz"}) {
    start_saying(bytes);
    EXPECT_EQ(call({.path = "/a"}).status, 502) << bytes;
    TearDown();
  }
}

TEST_F(UpstreamTest, an_answer_that_breaks_off_in_its_body_never_looks_whole) {
  for (const auto* bytes : {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf"}) {
    start_saying(bytes, true);
    HttpConnection connection(address);
    connection.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto all = connection.receive_to_end();
    EXPECT_TRUE(all.contains("half")) << all;
    EXPECT_FALSE(all.ends_with("0\r\n\r\n")) << all;
    TearDown();
  }
}

TEST_F(UpstreamTest, an_upstream_that_takes_too_long_is_a_504) {
  options.upstream_timeout = test::stretched(200ms);
  start([](const Seen& seen, Upstream::Talk& talk) {
    if (seen.line.contains("half")) talk.send("HTTP/1.1 200 OK\r\nContent-Len");
    talk.is_left(1min);
    talk.close();
  });
  for (const auto* path : {"/a", "/half"}) {
    const auto answer = post(path, "7");
    EXPECT_EQ(answer.status, 504) << path;
    EXPECT_EQ(answer.code(), "upstream_timeout");
    EXPECT_TRUE(answer.text("detail").contains("may have done what was asked")) << answer.body;
    EXPECT_EQ(call({.path = path}).status, 504) << "without a fence too";
  }
}

TEST_F(UpstreamTest, a_body_that_stands_still_is_cut_off) {
  options.upstream_timeout = test::stretched(200ms);
  start([](const Seen&, Upstream::Talk& talk) {
    talk.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    talk.is_left(1min);
    talk.close();
  });
  HttpConnection connection(address);
  connection.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(connection.receive_to_end().ends_with("\r\n\r\nhalf"));
}

TEST_F(UpstreamTest, what_an_upstream_says_after_its_answer_is_not_taken_for_the_next_one) {
  start([](const Seen&, Upstream::Talk& talk) {
    talk.send(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: "
        "4\r\n\r\nevil");
  });
  HttpConnection connection(address);
  for (int i = 1; i <= 3; ++i) {
    connection.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(connection.receive().body, "ok");
    EXPECT_EQ(upstream->seen().back().connection, i);
  }
}

}  // namespace
}  // namespace holdfast::guard
