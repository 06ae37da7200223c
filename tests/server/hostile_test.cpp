// SPDX-License-Identifier: Apache-2.0
//
// What nobody should send, over a real socket: it is refused, and the next caller notices nothing.
#include "net/http_hostile_requests.hpp"
#include "server_fixture.hpp"
#include "support/program.hpp"

#include <boost/json/array.hpp>

#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class HostileTest : public ServerTest {
 protected:
  void SetUp() override { start(); }

  std::string acquire_text(const std::string& name, const std::string& body = "{}") const {
    return test::request_text(
        {.method = "POST", .path = "/v1/locks/" + name + "/acquire", .body = body}, address);
  }
  std::size_t waiters(const std::string& name) {
    const auto seen = get("/v1/locks/" + name).json();
    return seen.as_object().contains("waiters") ? seen.at("waiters").as_array().size() : 0;
  }
  void expect_to_serve_others() { EXPECT_EQ(get("/v1/locks").status, 200); }
};

TEST_F(HostileTest, malformed_requests_are_refused_and_the_connection_ends) {
  for (const auto& [what, bytes, status, code] : test::hostile_requests()) {
    HttpConnection connection(address);
    connection.send(bytes);
    const auto answer = connection.receive(5s);
    EXPECT_EQ(answer.status, status) << what;
    EXPECT_EQ(answer.code(), code) << what;
    EXPECT_EQ(answer.header("content-type"), "application/problem+json") << what;
    EXPECT_EQ(answer.header("connection"), "close") << what;
    connection.end_sending();
    EXPECT_TRUE(connection.is_closed_within(3s)) << what;
  }
  expect_to_serve_others();
}

TEST_F(HostileTest, methods_and_targets_that_are_not_here_leave_the_connection_open) {
  HttpConnection connection(address);
  const auto ask = [&](const std::string& line) {
    connection.send(line + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n");
    return connection.receive();
  };
  EXPECT_EQ(ask("TRACE /v1/locks").status, 405);
  EXPECT_EQ(ask("TRACE /v1/locks").header("allow"), "GET");
  EXPECT_EQ(ask("CONNECT example.org:443").status, 404);
  EXPECT_EQ(ask("OPTIONS *").status, 404);
  EXPECT_EQ(ask(std::string(10'000, 'M') + " /v1/locks").status, 405);
  EXPECT_EQ(ask("GET http://" + address + "/v1/locks").status, 200);
  EXPECT_EQ(ask("GET http://evil.example/v1/locks").code(), "foreign_host");
  EXPECT_EQ(ask("GET /v1/locks/..").status, 404);
  EXPECT_EQ(ask("GET /v1/../v1/locks").status, 404);
  EXPECT_EQ(ask("GET //v1/locks").status, 404);
  EXPECT_EQ(ask("GET /v1/locks/").status, 404);
  EXPECT_EQ(ask("GET /v1/locks/%").status, 400);
  EXPECT_EQ(ask("GET /v1/locks/%zz").status, 400);
  EXPECT_EQ(ask("GET /v1/locks?limit=%").status, 400);
  EXPECT_EQ(ask("GET /v1/locks?limit=1&limit=2").status, 400);
  EXPECT_EQ(ask("GET /" + std::string(9'000, '/')).status, 404);
  EXPECT_EQ(ask("GET /v1/locks").status, 200);
}

TEST_F(HostileTest, an_answer_to_head_has_no_body_even_where_the_body_has_no_end) {
  HttpConnection connection(address);
  connection.send("HEAD /v1/locks HTTP/1.1\r\nHost: " + address + "\r\n\r\n");
  connection.send("HEAD /v1/events HTTP/1.1\r\nHost: " + address + "\r\n\r\n");
  auto raw = connection.receive_until("text/event-stream");
  raw += connection.receive_for(300ms);
  EXPECT_TRUE(raw.ends_with("\r\n\r\n")) << raw;
  EXPECT_NE(raw.find("text/event-stream"), std::string::npos) << raw;
  EXPECT_EQ(raw.find("events of holdfast"), std::string::npos) << raw;
}

TEST_F(HostileTest, a_thousand_pipelined_requests_are_answered_in_order) {
  std::string all;
  for (int i = 0; i < 1000; ++i) all += acquire_text(fmt::format("n{}", i), R"({"wait":"1ms"})");
  HttpConnection connection(address);
  std::jthread sender([&] { connection.send(all); });
  for (int i = 0; i < 1000; ++i) {
    const auto answer = connection.receive();
    ASSERT_EQ(answer.status, 200) << i << answer.body;
    ASSERT_EQ(answer.text("name"), fmt::format("n{}", i));
  }
}

TEST_F(HostileTest, requests_that_come_while_pipelined_ones_wait_are_read_whole) {
  ASSERT_EQ(post("/v1/locks/a/acquire").status, 200);
  for (int round = 0; round < 20; ++round) {
    HttpConnection connection(address);
    connection.send(acquire_text("a", R"({"wait":"10ms"})") +
                    acquire_text("a", R"({"wait":"30ms"})"));
    ASSERT_EQ(connection.receive().status, 408);
    // The second one is being waited for now.
    connection.send(acquire_text(fmt::format("b{}", round),
                                 R"({"metadata":{"note":")" + std::string(1'000, 'x') + "\"}}"));
    ASSERT_EQ(connection.receive().status, 408);
    const auto third = connection.receive();
    ASSERT_EQ(third.status, 200) << third.body;
  }
}

TEST_F(HostileTest, a_client_that_has_ended_its_sending_still_gets_its_answer) {
  HttpConnection connection(address);
  connection.send(acquire_text("a"));
  connection.end_sending();
  EXPECT_EQ(connection.receive().status, 200);
  EXPECT_TRUE(connection.is_closed_within(3s));
}

TEST_F(HostileTest, whoever_ends_its_sending_while_it_waits_leaves_the_queue_and_is_told) {
  ASSERT_EQ(post("/v1/locks/a/acquire").status, 200);
  HttpConnection connection(address);
  connection.send(acquire_text("a", R"({"wait":"1h"})"));
  ASSERT_TRUE(test::eventually([&] { return waiters("a") == 1; }));
  connection.end_sending();
  const auto answer = connection.receive(3s);
  EXPECT_EQ(answer.code(), "cancelled") << answer.status << answer.body;
  EXPECT_TRUE(test::eventually([&] { return waiters("a") == 0; }));
}

TEST_F(HostileTest, a_reset_while_waiting_leaves_the_queue) {
  ASSERT_EQ(post("/v1/locks/a/acquire").status, 200);
  HttpConnection connection(address);
  connection.send(acquire_text("a", R"({"wait":"1h"})"));
  ASSERT_TRUE(test::eventually([&] { return waiters("a") == 1; }));
  connection.reset();
  EXPECT_TRUE(test::eventually([&] { return waiters("a") == 0; }));
}

TEST_F(HostileTest, early_ends_leave_nothing_behind) {
  const auto whole = acquire_text("early", R"({"ttl":"1h"})");
  for (std::size_t cut = 0; cut < whole.size(); cut += 3) {
    HttpConnection closed(address);
    closed.send(whole.substr(0, cut));
    closed.close();
    HttpConnection reset(address);
    reset.send(whole.substr(0, cut));
    reset.reset();
  }
  EXPECT_EQ(get("/v1/locks/early").status, 404);
  EXPECT_EQ(post("/v1/locks/early/acquire").status, 200);
}

TEST_F(HostileTest, a_body_that_is_expected_to_be_asked_for_is_asked_for_once) {
  HttpConnection connection(address);
  connection.send(
      fmt::format("POST /v1/locks/a/acquire HTTP/1.1\r\nHost: {}\r\nContent-Type: "
                  "application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
                  address));
  const auto asked = connection.receive_until("\r\n\r\n");
  EXPECT_EQ(asked, "HTTP/1.1 100 Continue\r\n\r\n");
  connection.send("{}");
  EXPECT_EQ(connection.receive().status, 200);
}

}  // namespace
}  // namespace holdfast::server
