// SPDX-License-Identifier: Apache-2.0
#include "server_fixture.hpp"

#include <chrono>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class AcquireTest : public ServerTest {
 protected:
  void SetUp() override { start(); }
  std::string take(const std::string& name, const std::string& body = "{}") {
    const auto answer = post("/v1/locks/" + name + "/acquire", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.text("owner");
  }
};

TEST_F(AcquireTest, gives_a_lease_with_owner_fence_and_time) {
  const auto answer = post("/v1/locks/orders:42/acquire", R"({"ttl":"1m"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.text("name"), "orders:42");
  EXPECT_EQ(answer.text("owner").size(), 32U);
  EXPECT_GT(answer.number("fence"), 0);
  EXPECT_LE(answer.number("expires_in_ms"), 60'000);
  EXPECT_GT(answer.number("expires_in_ms"), 30'000);
  EXPECT_EQ(answer.number("waited_ms"), 0);
}

TEST_F(AcquireTest, a_held_lock_answers_409_with_holders_but_no_owner) {
  const auto owner = take("a", R"({"ttl":"1m","metadata":{"note":"nightly"}})");
  const auto answer = post("/v1/locks/a/acquire");
  ASSERT_EQ(answer.status, 409);
  EXPECT_EQ(answer.code(), "busy");
  EXPECT_GT(answer.number("retry_after_ms"), 30'000);
  EXPECT_EQ(answer.headers.at("retry-after"),
            std::to_string((answer.number("retry_after_ms") + 999) / 1000));
  EXPECT_NE(answer.body.find("nightly"), std::string::npos);
  EXPECT_EQ(answer.body.find(owner), std::string::npos);
}

TEST_F(AcquireTest, a_wait_that_ends_answers_408) {
  take("a");
  const auto answer = post("/v1/locks/a/acquire", R"({"wait":"50ms"})");
  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(answer.code(), "timed_out");
}

TEST_F(AcquireTest, a_waiter_gets_the_whole_ttl_when_the_lock_comes_free) {
  const auto owner = take("a");
  auto waiting = post_later("/v1/locks/a/acquire", R"({"ttl":"20s","wait":"1m"})");
  ASSERT_TRUE(has_waiters("a"));
  const auto queued = Clock::now();
  ASSERT_TRUE(has_waiters("a"));
  const auto released = Clock::now();
  ASSERT_EQ(post("/v1/locks/a/release", R"({"owner":")" + owner + R"("})").status, 200);
  const auto answer = waiting.get();
  const auto passed_ms = (Clock::now() - released) / 1ms;
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_GT(answer.number("expires_in_ms"), 19'000 - passed_ms);
  EXPECT_GE(answer.number("waited_ms"), (released - queued) / 1ms);
}

TEST_F(AcquireTest, a_client_that_leaves_while_it_waits_leaves_the_queue_at_once) {
  take("a");
  {
    HttpConnection waiter(address);
    waiter.send(test::request_text(
        {.method = "POST", .path = "/v1/locks/a/acquire", .body = R"({"wait":"1h"})"}, address));
    ASSERT_TRUE(has_waiters("a"));
  }
  EXPECT_TRUE(has_waiters("a", 0));
}

TEST_F(AcquireTest, a_client_that_sent_more_meanwhile_and_leaves_is_noticed_too) {
  take("a");
  HttpConnection waiter(address);
  const auto wait = test::request_text(
      {.method = "POST", .path = "/v1/locks/a/acquire", .body = R"({"wait":"1h"})"}, address);
  waiter.send(wait);
  ASSERT_TRUE(has_waiters("a"));
  waiter.send(wait);
  // The server has one thread: once this is answered it has read what came before.
  ASSERT_EQ(get("/v1/stats").status, 200);
  waiter.close();
  EXPECT_TRUE(has_waiters("a", 0));
}

TEST_F(AcquireTest, a_retried_post_returns_the_same_lease_with_what_is_left_of_it) {
  const HttpCall once{.method = "POST",
                      .path = "/v1/locks/a/acquire",
                      .body = R"({"ttl":"1m"})",
                      .headers = {{"Idempotency-Key", "job-7"}}};
  const auto first = call(once);
  ASSERT_EQ(first.status, 200) << first.body;
  const auto again = call(once);
  ASSERT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(first.text("owner"), again.text("owner"));
  EXPECT_EQ(first.number("fence"), again.number("fence"));
  EXPECT_TRUE(test::eventually(
      [&] { return call(once).number("expires_in_ms") < first.number("expires_in_ms"); }));
  auto other = once;
  other.headers["Idempotency-Key"] = "job-8";
  EXPECT_EQ(call(other).status, 409);
}

TEST_F(AcquireTest, renew_and_release_want_the_owner) {
  const auto owner = take("a", R"({"ttl":"1m"})");
  const auto body = [](const std::string& who, const std::string& more = {}) {
    return R"({"owner":")" + who + "\"" + more + "}";
  };
  const auto renewed = post("/v1/locks/a/renew", body(owner, R"(,"ttl":"1h")"));
  ASSERT_EQ(renewed.status, 200) << renewed.body;
  EXPECT_GT(renewed.number("expires_in_ms"), 3'500'000);
  EXPECT_EQ(post("/v1/locks/a/renew", body("somebody")).status, 403);
  EXPECT_EQ(post("/v1/locks/a/release", body("somebody")).code(), "not_owner");
  EXPECT_EQ(post("/v1/locks/a/release", body(owner)).status, 200);
  EXPECT_EQ(post("/v1/locks/a/release", body(owner)).status, 404);
  EXPECT_EQ(post("/v1/locks/a/renew", body(owner)).code(), "not_held");
}

// The owner is the caller's own, and is used again.
TEST_F(AcquireTest, a_late_copy_of_a_release_with_a_fence_leaves_the_next_lease_alone) {
  const auto take_as_job = [&] {
    return post("/v1/locks/a/acquire", R"({"ttl":"1m","owner":"job-17"})").number("fence");
  };
  const auto release = [&](std::int64_t fence) {
    return post("/v1/locks/a/release",
                R"({"owner":"job-17","fence":)" + std::to_string(fence) + "}");
  };
  const auto first = take_as_job();
  ASSERT_EQ(release(first).status, 200);
  const auto next = take_as_job();
  const auto late = release(first);
  EXPECT_EQ(late.status, 404) << late.body;
  EXPECT_EQ(late.code(), "not_held");
  EXPECT_EQ(counted("a", "holders"), 1U);
  EXPECT_EQ(release(next).status, 200);
  take("a");
  EXPECT_EQ(release(next).code(), "not_owner");
}

TEST_F(AcquireTest, a_fence_that_is_none_is_refused_and_ends_nothing) {
  ASSERT_EQ(post("/v1/locks/a/acquire", R"({"ttl":"1m","owner":"me"})").status, 200);
  for (const auto* bad : {"0", "-1", "1.5", R"("7")", "9223372036854775808", "true", "[]"}) {
    const auto refused =
        post("/v1/locks/a/release", std::string(R"({"owner":"me","fence":)") + bad + "}");
    EXPECT_EQ(refused.status, 400) << bad;
    EXPECT_NE(refused.body.find("fence: must be an integer from 1 to 9223372036854775807"),
              std::string::npos)
        << refused.body;
  }
  const auto both =
      post("/v1/locks/a/release", R"({"owner":"me","fence":9223372036854775807,"request":"r"})");
  EXPECT_EQ(both.status, 400);
  EXPECT_NE(both.body.find("fence: must not be given with request"), std::string::npos);
  EXPECT_EQ(post("/v1/locks/a/renew", R"({"owner":"me","fence":7})").status, 400);
  EXPECT_EQ(counted("a", "holders"), 1U);
  EXPECT_EQ(post("/v1/locks/a/release", R"({"owner":"me","fence":9223372036854775807})").status,
            200);
}

TEST_F(AcquireTest, every_kind_of_lock) {
  EXPECT_EQ(post("/v1/locks/rw/acquire", R"({"kind":"read_write","mode":"read"})").status, 200);
  EXPECT_EQ(post("/v1/locks/rw/acquire", R"({"kind":"read_write","mode":"read"})").status, 200);
  EXPECT_EQ(post("/v1/locks/rw/acquire", R"({"kind":"read_write","mode":"write"})").status, 409);
  EXPECT_EQ(post("/v1/locks/s/acquire", R"({"kind":"semaphore","capacity":3,"permits":2})").status,
            200);
  EXPECT_EQ(post("/v1/locks/s/acquire", R"({"kind":"semaphore","capacity":3,"permits":2})").status,
            409);
  EXPECT_EQ(post("/v1/locks/s/acquire", R"({"kind":"semaphore","capacity":4})").code(),
            "spec_mismatch");
  EXPECT_EQ(post("/v1/locks/r/acquire", R"({"kind":"reentrant","owner":"me"})").status, 200);
  EXPECT_EQ(post("/v1/locks/r/acquire", R"({"kind":"reentrant","owner":"me"})").status, 200);
  EXPECT_EQ(post("/v1/locks/r/acquire", R"({"kind":"reentrant","owner":"you"})").status, 409);
  EXPECT_EQ(
      post("/v1/locks/e/acquire", R"({"kind":"election","metadata":{"value":"web-1"}})").status,
      200);
  EXPECT_NE(get("/v1/locks/e").body.find(R"("value":"web-1")"), std::string::npos);
}

TEST_F(AcquireTest, a_lock_is_taken_away_by_force_and_with_a_reason_only) {
  const auto owner = take("a");
  EXPECT_EQ(call({.method = "DELETE", .path = "/v1/locks/a"}).status, 400);
  const auto forced =
      call({.method = "DELETE", .path = "/v1/locks/a", .body = R"({"reason":"stuck"})"});
  ASSERT_EQ(forced.status, 200) << forced.body;
  EXPECT_EQ(forced.number("ended"), 1);
  EXPECT_EQ(post("/v1/locks/a/renew", R"({"owner":")" + owner + R"("})").status, 404);
  EXPECT_EQ(call({.method = "DELETE", .path = "/v1/locks/a", .body = R"({"reason":"x"})"}).status,
            404);
}

}  // namespace
}  // namespace holdfast::server
