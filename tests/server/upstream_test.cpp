// SPDX-License-Identifier: Apache-2.0
#include "net/raw_server.hpp"
#include "server/upstreams.hpp"
#include "server_fixture.hpp"

#include <future>
#include <mutex>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using test::RawPeer;
using test::RawServer;

std::string ok(std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

class UpstreamTest : public ServerTest {
 protected:
  // A server with one upstream that answers every request with the same bytes.
  void start_with(std::string answer) {
    start_with_script([this, answer = std::move(answer)](RawPeer& peer, int) {
      for (;;) {
        auto request = peer.request();
        if (request.empty()) return;
        const std::lock_guard lock(mutex);
        last_request = std::move(request);
        peer.say(answer);
      }
    });
  }
  void start_with_script(RawServer::Script script) {
    upstream.emplace(std::move(script));
    options.patterns.upstreams["billing"] =
        fmt::format("http://127.0.0.1:{}/charge?from=holdfast", upstream->port());
    start();
  }
  HttpAnswer run(const std::string& body = R"({"upstream":"billing"})",
                 const std::string& pattern = "simple") {
    return post("/api/locks/" + pattern + "/order-7", body);
  }
  std::string request() {
    const std::lock_guard lock(mutex);
    return last_request;
  }
  bool is_held(const std::string& pattern = "simple") {
    return get("/v1/locks/lock:" + pattern + ":order-7").status == 200;
  }
  bool comes_to(bool held, const std::string& pattern = "simple") {
    return test::eventually([&] { return is_held(pattern) == held; });
  }

  std::mutex mutex;
  std::string last_request;  // guarded by mutex
  std::optional<RawServer> upstream;
};

TEST_F(UpstreamTest, its_answer_is_passed_on_with_status_type_and_body) {
  start_with(
      "HTTP/1.1 201 Created\r\nContent-Type: text/plain; charset=utf-8\r\n"
      "Connection: keep-alive\r\nSet-Cookie: a=b\r\nLocation: /charges/9\r\n"
      "Content-Length: 7\r\n\r\ncharged");
  const auto answer = run();
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(answer.body, "charged");
  EXPECT_EQ(answer.headers.at("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(answer.headers.at("location"), "/charges/9");
  EXPECT_FALSE(answer.headers.contains("set-cookie"));
  EXPECT_FALSE(is_held());
}

TEST_F(UpstreamTest, it_is_told_the_fence_the_resource_and_the_body) {
  start_with(ok("{}"));
  const auto answer = run(R"({"upstream":"billing","method":"PUT","body":{"amount":[1,"x"]}})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto told = request();
  EXPECT_TRUE(told.starts_with("PUT /charge?from=holdfast HTTP/1.1\r\n")) << told;
  EXPECT_NE(told.find("Holdfast-Fence: " + answer.headers.at("holdfast-fence") + "\r\n"),
            std::string::npos);
  EXPECT_NE(told.find("Holdfast-Resource: order-7\r\n"), std::string::npos);
  EXPECT_NE(told.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_TRUE(told.ends_with("\r\n\r\n{\"amount\":[1,\"x\"]}")) << told;
}

TEST_F(UpstreamTest, its_own_errors_are_passed_on_too) {
  start_with("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n");
  const auto answer = run();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers.at("retry-after"), "9");
}

TEST_F(UpstreamTest, works_under_every_pattern) {
  start_with(ok("done"));
  for (const std::string pattern :
       {"simple", "retry", "watchdog", "reentrant", "read-write", "fair", "redlock"}) {
    const auto answer = run(R"({"upstream":"billing"})", pattern);
    EXPECT_EQ(answer.status, 200) << pattern << answer.body;
    EXPECT_EQ(answer.body, "done");
  }
}

TEST_F(UpstreamTest, one_that_cannot_be_reached_is_502) {
  options.patterns.upstreams["billing"] = "http://127.0.0.1:1/";
  start();
  const auto answer = run();
  EXPECT_EQ(answer.status, 502) << answer.body;
  EXPECT_EQ(answer.text("error"), "Upstream failed");
  EXPECT_NE(answer.text("message").find("billing"), std::string::npos);
  EXPECT_EQ(answer.code(), "upstream_failed");
  EXPECT_FALSE(is_held());
}

TEST_F(UpstreamTest, an_answer_that_is_too_long_or_no_http_is_502) {
  start_with_script([](RawPeer& peer, int nth) {
    peer.request();
    peer.say(nth == 0 ? "HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n" : "what?\r\n\r\n");
  });
  EXPECT_EQ(run().status, 502);
  EXPECT_EQ(run().status, 502);
}

TEST_F(UpstreamTest, one_that_takes_longer_than_the_lease_is_504_while_the_lock_is_still_held) {
  start_with_script([](RawPeer& peer, int) {
    peer.request();
    peer.request();
  });
  const auto body =
      fmt::format(R"({{"upstream":"billing","ttlMs":{}}})", test::stretched(400ms) / 1ms);
  for (const std::string pattern : {"simple", "redlock"}) {
    HttpAnswer answer;
    // On a busy machine the lease may be over before that is noticed.
    EXPECT_TRUE(test::eventually([&] {
      answer = run(body, pattern);
      EXPECT_TRUE(answer.status == 504 || answer.code() == "lost") << answer.body;
      return answer.status == 504;
    }));
    EXPECT_EQ(answer.text("error"), "Upstream failed");
  }
  EXPECT_FALSE(is_held());
}

TEST_F(UpstreamTest, a_lease_that_is_lost_cancels_the_call_and_answers_500) {
  std::promise<void> closed;
  start_with_script([&](RawPeer& peer, int) {
    peer.request();
    peer.request();
    closed.set_value();
  });
  auto running =
      post_later("/api/locks/watchdog/order-7",
                 fmt::format(R"({{"upstream":"billing","ttlMs":{}}})", test::stretched(2s) / 1ms));
  ASSERT_TRUE(comes_to(true, "watchdog"));
  ASSERT_EQ(call({.method = "DELETE",
                  .path = "/v1/locks/lock:watchdog:order-7",
                  .body = R"({"reason":"test"})"})
                .status,
            200);
  EXPECT_EQ(closed.get_future().wait_for(test::at_most(30s)), std::future_status::ready);
  const auto answer = running.get();
  EXPECT_EQ(answer.status, 500) << answer.body;
  EXPECT_EQ(answer.text("error"), "Operation failed during execution");
}

TEST_F(UpstreamTest, a_client_that_leaves_cancels_the_call_and_frees_the_lock) {
  std::promise<void> asked;
  std::promise<void> closed;
  start_with_script([&](RawPeer& peer, int) {
    peer.request();
    asked.set_value();
    peer.request();
    closed.set_value();
  });
  HttpConnection connection(address);
  connection.send(test::request_text(
      {.method = "POST", .path = "/api/locks/simple/order-7", .body = R"({"upstream":"billing"})"},
      address));
  ASSERT_TRUE(comes_to(true));
  // Whoever leaves before that is never heard of by the upstream.
  ASSERT_EQ(asked.get_future().wait_for(test::at_most(30s)), std::future_status::ready);
  connection.close();
  EXPECT_EQ(closed.get_future().wait_for(test::at_most(30s)), std::future_status::ready);
  EXPECT_TRUE(comes_to(false));
}

TEST_F(UpstreamTest, only_names_of_the_configuration_can_be_called) {
  start_with(ok("{}"));
  for (const std::string body :
       {R"({"upstream":"Billing"})", R"({"upstream":""})", R"({"upstream":"http://127.0.0.1/"})",
        R"({"upstream":"billing","method":"CONNECT"})", R"({"upstream":"billing","durationMs":5})",
        R"({"upstream":"billing","url":"http://127.0.0.1/"})"}) {
    EXPECT_EQ(run(body).status, 400) << body;
  }
  EXPECT_EQ(upstream->connections(), 0);
}

TEST(Upstream, a_url_says_where_and_what_to_ask_for) {
  const auto place = parse_upstream("https://user:p%40ss@[::1]/a%20b?c=d%2F");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->origin.host, "::1");
  EXPECT_EQ(place->origin.port, 443);
  EXPECT_TRUE(place->origin.tls.has_value());
  EXPECT_EQ(place->target, "/a%20b?c=d%2F");
  const net::http::Headers login{{"Authorization", "Basic dXNlcjpwQHNz"}};
  EXPECT_EQ(place->origin.headers, login);
  EXPECT_EQ(parse_upstream("http://a:8080")->target, "/");
  EXPECT_EQ(parse_upstream("http://a:8080?x=1")->target, "/?x=1");
  EXPECT_EQ(parse_upstream("http://a")->origin.port, 80);
  EXPECT_FALSE(parse_upstream("ftp://a"));
  EXPECT_FALSE(parse_upstream("billing"));
}

}  // namespace
}  // namespace holdfast::server
