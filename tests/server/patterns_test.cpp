// SPDX-License-Identifier: Apache-2.0
//
// The Valkey guide's API over a real socket: the patterns that need one store.
#include <holdfast/client.hpp>

#include "gated_upstream.hpp"
#include "server_fixture.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <future>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class PatternsTest : public ServerTest {
 protected:
  void SetUp() override {
    options.patterns.upstreams["gate"] = gate.url();
    start();
  }
  void TearDown() override { gate.open(); }

  HttpAnswer run(const std::string& pattern, const std::string& body = R"({"durationMs":5})") {
    return post("/api/locks/" + pattern + "/r1", body);
  }
  std::future<HttpAnswer> run_later(const std::string& pattern, const std::string& body) {
    return post_later("/api/locks/" + pattern + "/r1", body);
  }
  // Holds the lock when this returns, and until the gate is opened.
  std::future<HttpAnswer> hold(const std::string& pattern, std::string_view more = "",
                               std::string_view query = "") {
    gate.shut();
    auto answer = post_later(fmt::format("/api/locks/{}/r1{}", pattern, query),
                             fmt::format(R"({{"upstream":"gate","ttlMs":60000{}}})", more));
    EXPECT_TRUE(has_holders("lock:" + pattern + ":r1", 1)) << pattern;
    return answer;
  }
  int open_gate_for(std::future<HttpAnswer>& answer) {
    gate.open();
    return answer.get().status;
  }
  void expect_locked(const HttpAnswer& answer) {
    EXPECT_EQ(answer.status, 409) << answer.body;
    EXPECT_EQ(answer.text("error"), "Resource locked");
    EXPECT_EQ(answer.text("message"), "Resource 'r1' is being processed by another request");
    EXPECT_EQ(answer.code(), "busy");
    EXPECT_GT(answer.number("retryAfterMs"), 0);
    const auto seconds = (answer.number("retryAfterMs") + 999) / 1000;
    EXPECT_EQ(answer.headers.at("retry-after"), std::to_string(seconds));
  }

  GatedUpstream gate;
};

TEST_F(PatternsTest, every_pattern_performs_an_operation_under_its_lock) {
  for (const std::string pattern :
       {"simple", "retry", "watchdog", "reentrant", "read-write", "fair", "redlock"}) {
    const auto answer = run(pattern);
    ASSERT_EQ(answer.status, 200) << pattern << answer.body;
    const auto body = answer.json().as_object();
    EXPECT_TRUE(body.at("success").as_bool());
    EXPECT_EQ(answer.text("resourceId"), "r1");
    EXPECT_GE(answer.number("durationMs"), 5);
    EXPECT_LT(answer.number("durationMs"), test::at_most(2s) / 1ms);
    EXPECT_GT(answer.number("fence"), 0);
  }
}

TEST_F(PatternsTest, the_fence_grows_from_one_operation_to_the_next) {
  const auto first = run("simple");
  EXPECT_GT(run("simple").number("fence"), first.number("fence"));
}

TEST_F(PatternsTest, every_pattern_has_the_guides_name_of_the_lock) {
  for (const std::string pattern :
       {"simple", "retry", "watchdog", "reentrant", "read-write", "fair"}) {
    auto running = hold(pattern);
    EXPECT_EQ(open_gate_for(running), 200);
    EXPECT_EQ(counted("lock:" + pattern + ":r1", "holders"), 0U);
  }
}

TEST_F(PatternsTest, a_held_resource_answers_409_at_once_with_what_is_left_of_the_lease) {
  for (const std::string pattern : {"simple", "watchdog", "reentrant", "read-write"}) {
    auto running = hold(pattern);
    const auto began = std::chrono::steady_clock::now();
    const auto answer = run(pattern);
    EXPECT_LT(std::chrono::steady_clock::now() - began, test::at_most(300ms)) << pattern;
    expect_locked(answer);
    EXPECT_LE(answer.number("retryAfterMs"), 60'000);
    EXPECT_GT(answer.number("retryAfterMs"), 30'000);
    EXPECT_EQ(post("/api/locks/" + pattern + "/other", R"({"durationMs":0})").status, 200);
    EXPECT_EQ(open_gate_for(running), 200);
  }
}

TEST_F(PatternsTest, a_bare_post_holds_as_long_as_the_configuration_says) {
  server.reset();
  options.patterns.min_duration = 30ms;
  options.patterns.max_duration = 60ms;
  start();
  HttpConnection connection(address);
  connection.send("POST /api/locks/simple/r1 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n");
  const auto bare = connection.receive();
  EXPECT_EQ(bare.status, 200) << bare.body;
  EXPECT_GE(bare.number("durationMs"), 30);
  EXPECT_LT(bare.number("durationMs"), test::at_most(1s) / 1ms);
  connection.send(
      "POST /api/locks/simple/r1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(connection.receive().status, 200);
}

TEST_F(PatternsTest, simple_never_reports_success_for_a_lease_that_ended) {
  const auto began = std::chrono::steady_clock::now();
  const auto answer = run("simple", R"({"durationMs":60000,"ttlMs":100})");
  EXPECT_LT(std::chrono::steady_clock::now() - began, test::at_most(5s));
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.text("error"), "Operation failed during execution");
  EXPECT_EQ(answer.text("message"), "Failed to complete operation");
  EXPECT_EQ(answer.code(), "lost");
}

TEST_F(PatternsTest, watchdog_outlives_its_ttl) {
  const auto ttl = test::stretched(150ms) / 1ms;
  const auto body = fmt::format(R"({{"durationMs":{},"ttlMs":{}}})", 3 * ttl, ttl);
  // A machine that is too busy to renew in time loses the lease, rightly, for once.
  EXPECT_TRUE(test::eventually([&] {
    const auto answer = run("watchdog", body);
    EXPECT_TRUE(answer.status == 200 || answer.code() == "lost") << answer.body;
    return answer.status == 200;
  }));
}

TEST_F(PatternsTest, watchdog_ends_when_the_lock_is_taken_away) {
  auto running = run_later(
      "watchdog", fmt::format(R"({{"durationMs":600000,"ttlMs":{}}})", test::stretched(2s) / 1ms));
  ASSERT_TRUE(has_holders("lock:watchdog:r1", 1));
  EXPECT_EQ(call({.method = "DELETE",
                  .path = "/v1/locks/lock:watchdog:r1",
                  .body = R"({"reason":"test"})"})
                .status,
            200);
  const auto answer = running.get();
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.text("error"), "Operation failed during execution");
}

TEST_F(PatternsTest, a_lock_taken_away_from_an_unrenewed_operation_is_found_out_at_its_end) {
  auto running = hold("simple");
  ASSERT_EQ(
      call({.method = "DELETE", .path = "/v1/locks/lock:simple:r1", .body = R"({"reason":"test"})"})
          .status,
      200);
  EXPECT_EQ(open_gate_for(running), 500);
}

TEST_F(PatternsTest, retry_asks_again_until_the_lock_is_free) {
  auto running = hold("retry");
  auto second = run_later("retry", R"({"durationMs":5})");
  ASSERT_TRUE(test::eventually([&] { return get("/v1/stats").number("waiters") == 1; }));
  EXPECT_EQ(open_gate_for(running), 200);
  EXPECT_EQ(second.get().status, 200);
}

TEST_F(PatternsTest, a_wait_that_was_too_short_answers_409) {
  for (const std::string pattern : {"retry", "fair", "watchdog"}) {
    auto running = hold(pattern);
    expect_locked(run(pattern, R"({"durationMs":5,"waitMs":60})"));
    EXPECT_EQ(open_gate_for(running), 200);
  }
}

TEST_F(PatternsTest, fair_serves_in_the_order_of_asking) {
  auto first = hold("fair");
  auto second = run_later("fair", R"({"durationMs":1})");
  ASSERT_TRUE(has_waiters("lock:fair:r1", 1));
  auto third = run_later("fair", R"({"durationMs":1})");
  ASSERT_TRUE(has_waiters("lock:fair:r1", 2));
  gate.open();
  const auto fences = std::array{std::stol(first.get().header("holdfast-fence")),
                                 second.get().number("fence"), third.get().number("fence")};
  EXPECT_GT(fences[0], 0);
  EXPECT_LT(fences[0], fences[1]);
  EXPECT_LT(fences[1], fences[2]);
}

TEST_F(PatternsTest, readers_share_and_a_writer_is_alone) {
  const auto path = [](const std::string& mode) { return "/api/locks/read-write/r1?mode=" + mode; };
  auto reading = hold("read-write", "", "?mode=read");
  EXPECT_EQ(post(path("read"), R"({"durationMs":1})").status, 200);
  expect_locked(post(path("write"), R"({"durationMs":1})"));
  expect_locked(post("/api/locks/read-write/r1", R"({"durationMs":1})"));
  EXPECT_EQ(open_gate_for(reading), 200);
  EXPECT_EQ(post(path("write"), R"({"durationMs":1})").status, 200);
  EXPECT_EQ(post(path("both"), R"({"durationMs":1})").status, 400);
  EXPECT_EQ(post("/api/locks/simple/r1?mode=read", R"({"durationMs":1})").status, 400);
}

TEST_F(PatternsTest, reentrant_enters_as_deep_as_it_is_asked_and_leaves_as_often) {
  const auto duration = test::stretched(500ms) / 1ms;
  auto running = run_later("reentrant",
                           fmt::format(R"({{"durationMs":{},"owner":"me","depth":3}})", duration));
  ASSERT_TRUE(has_holders("lock:reentrant:r1", 3));
  EXPECT_EQ(run("reentrant", R"({"durationMs":1,"owner":"me"})").status, 200);
  expect_locked(run("reentrant", R"({"durationMs":1,"owner":"you"})"));
  EXPECT_EQ(counted("lock:reentrant:r1", "holders"), 3U);
  const auto answer = running.get();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.number("depth"), 3);
  EXPECT_EQ(counted("lock:reentrant:r1", "holders"), 0U);
}

TEST_F(PatternsTest, a_client_that_leaves_ends_its_operation_and_frees_the_lock_at_once) {
  for (const std::string pattern : {"simple", "watchdog", "fair"}) {
    HttpConnection connection(address);
    connection.send(test::request_text({.method = "POST",
                                        .path = "/api/locks/" + pattern + "/r1",
                                        .body = R"({"durationMs":60000,"ttlMs":60000})"},
                                       address));
    ASSERT_TRUE(has_holders("lock:" + pattern + ":r1", 1));
    connection.close();
    EXPECT_TRUE(has_holders("lock:" + pattern + ":r1", 0));
    EXPECT_EQ(run(pattern).status, 200);
  }
}

TEST_F(PatternsTest, a_server_that_drains_ends_operations_and_says_so) {
  auto running = run_later("watchdog", R"({"durationMs":60000})");
  ASSERT_TRUE(has_holders("lock:watchdog:r1", 1));
  const auto began = std::chrono::steady_clock::now();
  server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, test::at_most(5s));
  const auto answer = running.get();
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_EQ(answer.text("error"), "Service Unavailable");
  auto client = Client(core_);
  EXPECT_TRUE(client.inspect("lock:watchdog:r1")->holders.empty());
}

TEST_F(PatternsTest, errors_have_the_guides_shape_and_a_problems) {
  const auto answer = run("simple", R"({"durationMs":-1})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.text("error"), "Bad Request");
  EXPECT_NE(answer.text("message").find("durationMs"), std::string::npos);
  EXPECT_EQ(answer.text("detail"), answer.text("message"));
  EXPECT_EQ(answer.code(), "bad_input");
  EXPECT_EQ(answer.number("status"), 400);
  EXPECT_EQ(answer.headers.at("content-type"), "application/problem+json");
}

TEST_F(PatternsTest, bad_input_is_refused_with_the_field_and_the_rule) {
  struct Row {
    std::string pattern;
    std::string body;
    std::string names;
  };
  const std::vector<Row> table{
      {"simple", R"({"durationMs":82800001})", "durationMs"},
      {"simple", R"({"durationMs":"5s"})", "durationMs"},
      {"simple", R"({"durationMs":1.5})", "durationMs"},
      {"simple", R"({"duration":5})", "duration"},
      {"simple", R"({"ttlMs":19})", "ttlMs"},
      {"simple", R"({"ttlMs":86400001})", "ttlMs"},
      {"simple", R"({"waitMs":5})", "waitMs"},
      {"redlock", R"({"waitMs":5})", "waitMs"},
      {"retry", R"({"waitMs":86400001})", "waitMs"},
      {"simple", R"({"owner":"me"})", "owner"},
      {"simple", R"({"depth":2})", "depth"},
      {"reentrant", R"({"depth":0})", "depth"},
      {"reentrant", R"({"depth":11})", "depth"},
      {"reentrant", R"({"owner":""})", "owner"},
      {"simple", R"({"upstream":"nowhere"})", "upstream"},
      {"simple", R"({"upstream":"http://127.0.0.1/"})", "upstream"},
      {"simple", R"({"method":"GET"})", "method"},
      {"simple", R"({"body":{}})", "body"},
      {"simple", "[]", "object"},
      {"simple", "{", ""},
  };
  for (const auto& row : table) {
    const auto answer = run(row.pattern, row.body);
    EXPECT_EQ(answer.status, 400) << row.pattern << row.body << answer.body;
    EXPECT_NE(answer.text("message").find(row.names), std::string::npos) << answer.body;
    EXPECT_EQ(answer.text("error"), "Bad Request");
  }
  EXPECT_EQ(post("/api/locks/simple/" + std::string(600, 'x')).status, 400);
  EXPECT_EQ(post("/api/locks/simple/a%00b").status, 400);
}

TEST_F(PatternsTest, a_resource_may_have_any_name_that_is_text) {
  const auto answer = post("/api/locks/simple/order%2F42%20%C3%BC", R"({"durationMs":0})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.text("resourceId"), "order/42 ü");
}

TEST_F(PatternsTest, unknown_patterns_and_paths_answer_404_as_the_guide) {
  EXPECT_EQ(run("other").status, 404);
  EXPECT_EQ(run("other").text("error"), "Not Found");
  EXPECT_EQ(post("/api/locks/simple").status, 404);
  EXPECT_EQ(post("/api/locks/simple/").status, 404);
  EXPECT_EQ(get("/api/locks/simple/r1").status, 405);
}

TEST_F(PatternsTest, the_name_may_not_be_another_kind_of_lock) {
  ASSERT_EQ(post("/v1/locks/lock:simple:r1/acquire", R"({"kind":"semaphore","capacity":3})").status,
            200);
  const auto answer = run("simple");
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.code(), "spec_mismatch");
}

TEST_F(PatternsTest, those_who_wait_are_counted_and_limited) {
  server.reset();
  options.limits.max_waiters_per_name = 1;
  start();
  auto running = hold("fair");
  auto waiting = run_later("fair", R"({"durationMs":1})");
  ASSERT_TRUE(has_waiters("lock:fair:r1"));
  const auto refused = run("fair");
  EXPECT_EQ(refused.status, 429) << refused.body;
  EXPECT_EQ(refused.code(), "limit_reached");
  EXPECT_EQ(open_gate_for(running), 200);
  EXPECT_EQ(waiting.get().status, 200);
}

}  // namespace
}  // namespace holdfast::server
