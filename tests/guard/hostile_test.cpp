// SPDX-License-Identifier: Apache-2.0
//
// Requests that one program reads so and another one otherwise, and clients that take their time.
#include "guard_fixture.hpp"
#include "net/http_hostile_requests.hpp"

namespace holdfast::guard {
namespace {

class Hostile : public GuardTest {
 protected:
  void SetUp() override {
    options.missing = Missing::pass;
    options.max_body_bytes = 64 * 1024;
  }
};

TEST_F(Hostile, nothing_of_what_could_be_read_in_two_ways_reaches_the_upstream) {
  start();
  for (const auto& each : test::hostile_requests()) {
    HttpConnection connection(address);
    connection.send(each.bytes);
    const auto answer = connection.receive();
    EXPECT_EQ(answer.status, each.status) << each.what;
    EXPECT_EQ(answer.code(), each.code) << each.what;
    EXPECT_EQ(upstream->count(), 0U) << each.what;
    EXPECT_TRUE(connection.is_closed_within(5s)) << each.what;
  }
  EXPECT_EQ(call({.path = "/a"}).status, 200);
}

TEST_F(Hostile, a_request_that_hides_in_a_body_stays_there) {
  start();
  const std::string hidden = "POST /evil HTTP/1.1\r\nHost: a\r\nHoldfast-Fence: 9\r\n\r\n";
  HttpConnection connection(address);
  connection.send(fmt::format("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}",
                              hidden.size(), hidden));
  EXPECT_EQ(connection.receive().status, 200);
  connection.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(connection.receive().status, 200);
  const auto seen = upstream->seen();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].body, hidden);
  EXPECT_EQ(seen[1].line, "GET /b HTTP/1.1");
}

TEST_F(Hostile, targets_that_are_no_path_are_refused) {
  start();
  for (const auto* target : {"evil.example:80", "a", "a/b", "*", "http:/x", "//evil.example@a#x",
                             "/a#b", "http://user@shop/a", "http://shop\\evil/a"}) {
    const auto answer = raw(fmt::format("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", target));
    EXPECT_EQ(answer.status, 400) << target;
  }
  for (const auto* host : {"a@b", "a/b", "a,b", "a b"}) {
    EXPECT_EQ(raw(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host)).status, 400) << host;
  }
  EXPECT_EQ(upstream->count(), 0U);
}

TEST_F(Hostile, a_value_cannot_add_a_field) {
  start();
  EXPECT_EQ(raw("GET /a HTTP/1.1\r\nHost: a\r\nX: y\rHoldfast-Fence: 9\r\n\r\n").status, 400);
  EXPECT_EQ(raw("GET /a HTTP/1.1\r\nHost: a\r\nX: y\nHoldfast-Fence: 9\r\n\r\n").status, 400);
  EXPECT_EQ(upstream->count(), 0U);
}

TEST_F(Hostile, a_slow_sender_holds_nobody_up) {
  start();
  HttpConnection slow(address);
  slow.send(
      "POST /a HTTP/1.1\r\nHost: a\r\nHoldfast-Fence: 7\r\nContent-Length: 100\r\n\r\nonly half");
  EXPECT_EQ(post("/a", "8").status, 200) << "whoever has not sent all is not on its way";
  slow.send(std::string(91, 'x'));
  EXPECT_EQ(slow.receive().status, 412) << "and it is too late by then";
}

TEST_F(Hostile, a_slow_reader_holds_up_nobody_but_its_own_resource) {
  static constexpr std::size_t size = 32 << 20U;
  start([](const Seen& seen, Upstream::Talk& talk) {
    if (!seen.line.contains("huge")) return Upstream::answer_ok(seen, talk);
    talk.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", size));
    talk.send(std::string(size, 'x'));
  });
  HttpConnection slow(address);
  slow.send("GET /huge HTTP/1.1\r\nHost: a\r\nHoldfast-Fence: 7\r\n\r\n");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(post("/a", "8").status, 200);
  EXPECT_EQ(slow.receive().body.size(), size);
}

TEST_F(Hostile, a_client_that_leaves_costs_nothing) {
  start();
  for (int i = 0; i < 50; ++i) {
    HttpConnection connection(address);
    connection.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HT");
    connection.reset();
  }
  EXPECT_EQ(call({.path = "/a"}).status, 200);
}

}  // namespace
}  // namespace holdfast::guard
