// SPDX-License-Identifier: Apache-2.0
//
// /v1/rate-limits over HTTP: what it answers, who may, and what it refuses.
#include "server_fixture.hpp"

#include <boost/json/array.hpp>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace holdfast::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class RateLimitsTest : public ServerTest {
 protected:
  HttpAnswer check(const std::string& scope, const std::string& body) {
    return post("/v1/rate-limits/" + scope + "/check", body);
  }
  HttpAnswer peek(const std::string& scope, const std::string& body) {
    return post("/v1/rate-limits/" + scope + "/peek", body);
  }
  HttpAnswer reset(const std::string& scope, const std::string& body) {
    return post("/v1/rate-limits/" + scope + "/reset", body);
  }
  static bool allowed(const HttpAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json().at("allowed").as_bool();
  }
};

TEST_F(RateLimitsTest, a_check_is_counted_and_answers_what_is_left) {
  start();
  const auto first = check("user-42", R"({"rate":"2/h"})");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.text("scope"), "user-42");
  EXPECT_TRUE(allowed(first));
  EXPECT_EQ(first.number("count"), 1);
  EXPECT_EQ(first.number("limit"), 2);
  EXPECT_EQ(first.number("remaining"), 1);
  EXPECT_EQ(first.number("retry_after_ms"), 0);
  EXPECT_EQ(first.number("reset_ms"), 3'600'000);
  EXPECT_EQ(first.header("ratelimit-limit"), "2");
  EXPECT_EQ(first.header("ratelimit-remaining"), "1");
  EXPECT_EQ(first.header("ratelimit-reset"), "3600");
  EXPECT_EQ(first.header("retry-after"), "");
  EXPECT_TRUE(allowed(check("user-42", R"({"limit":2,"window":"1h"})"))) << "the same, in words";
  const auto denied = check("user-42", R"({"rate":"2/h"})");
  EXPECT_FALSE(allowed(denied)) << "being denied is an answer like any other";
  EXPECT_EQ(denied.header("ratelimit-remaining"), "0");
  EXPECT_GT(denied.number("retry_after_ms"), 3'000'000);
}

TEST_F(RateLimitsTest, a_denied_check_that_is_enforced_is_429_with_when_to_come_again) {
  start();
  const auto body = R"({"rate":"1/h","enforce":true})";
  EXPECT_EQ(check("api", body).status, 200);
  const auto denied = check("api", body);
  EXPECT_EQ(denied.status, 429);
  EXPECT_EQ(denied.code(), "rate_limited");
  EXPECT_EQ(denied.header("content-type"), "application/problem+json");
  EXPECT_THAT(denied.text("detail"), StartsWith("'api' allows 1/h, and nothing is left"));
  EXPECT_EQ(denied.text("scope"), "api");
  EXPECT_FALSE(denied.json().at("allowed").as_bool());
  EXPECT_EQ(denied.header("ratelimit-limit"), "1");
  EXPECT_EQ(denied.header("ratelimit-remaining"), "0");
  const auto seconds = std::stol(denied.header("retry-after"));
  EXPECT_GT(seconds, 3000);
  EXPECT_LE(seconds, 3600);
}

TEST_F(RateLimitsTest, a_peek_counts_nothing_and_a_reset_forgets) {
  start();
  const std::string rule = R"({"rate":"3/h","algorithm":"token_bucket"})";
  EXPECT_TRUE(allowed(check("api", R"({"rate":"3/h","algorithm":"token_bucket","cost":3})")));
  EXPECT_FALSE(allowed(peek("api", rule)));
  EXPECT_EQ(peek("api", rule).number("count"), 3);
  EXPECT_EQ(reset("api", rule).number("remaining"), 3);
  EXPECT_EQ(peek("api", rule).number("count"), 0);
  EXPECT_TRUE(allowed(check("api", rule)));
}

TEST_F(RateLimitsTest, a_burst_makes_it_a_bucket_and_a_layout_a_fixed_window) {
  start();
  EXPECT_EQ(peek("api", R"({"rate":"10/s","burst":4})").number("limit"), 4);
  EXPECT_TRUE(allowed(check("api", R"({"rate":"1/d","layout":"n8n"})")));
  EXPECT_EQ(
      peek("api", R"({"rate":"1/d","layout":"n8n","algorithm":"fixed_window"})").number("count"),
      1);
}

TEST_F(RateLimitsTest, names_in_the_path_may_hold_anything_that_a_scope_may) {
  start();
  EXPECT_EQ(check("a%2Fb%20%C3%BC", R"({"rate":"1/h"})").text("scope"), "a/b ü");
  EXPECT_EQ(check("a%0Ab", R"({"rate":"1/h"})").status, 400);
}

TEST_F(RateLimitsTest, bad_input_is_400_by_the_name_of_the_field_and_counts_nothing) {
  start();
  const std::pair<std::string, std::string> cases[] = {
      {R"({})", "rate: must be given"},
      {R"({"limit":5})", "window: must be given"},
      {R"({"window":"1s"})", "limit: must be given"},
      {R"({"limit":0,"window":"1s"})", "limit: must be an integer from 1 to 1000000000"},
      {R"({"limit":-1,"window":"1s"})", "limit: must be an integer"},
      {R"({"limit":"5","window":"1s"})", "limit: must be an integer"},
      {R"({"limit":1.5,"window":"1s"})", "limit: must be an integer"},
      {R"({"limit":1000000001,"window":"1s"})", "limit: must be an integer"},
      {R"({"limit":5,"window":"0s"})", "window: must be between 1ms and 31d"},
      {R"({"limit":5,"window":"-1s"})", "window: duration"},
      {R"({"limit":5,"window":60})", "window: must be a duration in a string"},
      {R"({"limit":5,"window":"32d"})", "window: must be between 1ms and 31d"},
      {R"({"rate":"5/s","limit":5})", "rate: must not be given together"},
      {R"({"rate":10})", "rate: must be a string"},
      {R"({"rate":"10"})", "rate: rate \"10\" has no slash"},
      {R"({"rate":"0/s"})", "rate: rate \"0/s\" does not begin with an integer"},
      {R"({"rate":"-5/s"})", "rate: rate \"-5/s\" does not begin with an integer"},
      {R"({"rate":"5/0s"})", "rate: rate \"5/0s\" has a window"},
      {R"({"rate":"5/s","cost":0})", "cost: must be an integer from 1"},
      {R"({"rate":"5/s","cost":-1})", "cost: must be an integer from 1"},
      {R"({"rate":"5/s","cost":6})", "cost: must be from 1 to 5"},
      {R"({"rate":"5/s","cost":"1"})", "cost: must be an integer from 1"},
      {R"({"rate":"5/s","burst":2,"cost":3})", "cost: must be from 1 to 2"},
      {R"({"rate":"5/s","algorithm":"leaky"})", "algorithm: must be fixed_window"},
      {R"({"rate":"5/s","algorithm":3})", "algorithm: must be a string"},
      {R"({"rate":"5/s","algorithm":"sliding_window","burst":2})", "burst: only a token_bucket"},
      {R"({"rate":"5/s","burst":0})", "burst: must be an integer from 1"},
      {R"({"rate":"5/s","layout":"other"})", "layout: must be native"},
      {R"({"rate":"5/s","layout":"n8n","burst":2})", "burst: only a token_bucket"},
      {R"({"rate":"5/100ms","layout":"n8n"})", "window: must be whole seconds"},
      {R"({"rate":"5/s","enforce":"yes"})", "enforce: must be true or false"},
      {R"({"rate":"5/s","nobody":1})", "nobody: there is no such field"},
      {R"([])", "the body must be a JSON object"},
  };
  for (const auto& [body, reason] : cases) {
    const auto answer = check("api", body);
    EXPECT_EQ(answer.status, 400) << body << answer.body;
    EXPECT_THAT(answer.text("detail"), StartsWith(reason)) << body;
  }
  EXPECT_THAT(check(std::string(401, 'x'), R"({"rate":"5/s"})").text("detail"),
              StartsWith("scope: must have 1 to 400 bytes; got 401"));
  EXPECT_EQ(check(std::string(400, 'x'), R"({"rate":"5/s"})").status, 200);
  EXPECT_EQ(peek("api", R"({"rate":"5/s","enforce":true})").status, 400);
  EXPECT_EQ(reset("api", R"({"rate":"5/s","cost":1})").status, 400);
  EXPECT_EQ(peek("api", R"({"rate":"5/s"})").number("count"), 0);
}

TEST_F(RateLimitsTest, checks_are_metrics_and_a_reset_is_in_the_audit_trail) {
  start();
  for (int each = 0; each < 3; ++each) check("api", R"({"rate":"1/h"})");
  peek("api", R"({"rate":"1/h"})");
  reset("api", R"({"rate":"1/h"})");
  const auto metrics = get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("holdfast_rate_limit_checks_total{result=\"allowed\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("holdfast_rate_limit_checks_total{result=\"denied\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("holdfast_rate_limit_checks_total{result=\"failed\"} 0\n"));
  const auto page = get("/v1/audit?limit=1").json();
  const auto& entry = page.at("entries").at(0);
  EXPECT_EQ(entry.at("what"), "rate_limit_reset");
  EXPECT_EQ(entry.at("name"), "api");
  EXPECT_EQ(entry.at("reason"), "1/h");
}

class RateLimitTokens : public RateLimitsTest {
 protected:
  // printf %s NAME-token | sha256sum
  void SetUp() override {
    const auto file = (folder_.path() / "tokens").string();
    std::ofstream(file)
        << "reader ba5005a40cf5212e4ac0190104cc127edab013294bb71279a975b27a80982d45 read *\n"
        << "locker fea47895995ea3f73d254cd6345c8b2d4332c600bad861188a21597eb553521a lock *\n"
        << "scoped 16d56c41fff8b01dace6ca266b6c160503e9999260dc3a69dd6f06f37e307e5d lock orders\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    options.token_file = file;
    start();
  }
  int ask(const std::string& who, const std::string& path,
          const std::string& body = R"({"rate":"5/h"})") {
    return call({.method = "POST",
                 .path = "/v1/rate-limits/" + path,
                 .body = body,
                 .headers = {{"Authorization", "Bearer " + who + "-token"}}})
        .status;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(RateLimitTokens, whoever_may_lock_may_count_but_not_forget) {
  EXPECT_EQ(ask("reader", "api/peek"), 200);
  EXPECT_EQ(ask("reader", "api/check"), 403);
  EXPECT_EQ(ask("locker", "api/check"), 200);
  EXPECT_EQ(ask("locker", "api/reset"), 403);
  EXPECT_EQ(ask("nobody", "api/peek"), 401);
}

TEST_F(RateLimitTokens, a_prefix_covers_its_scopes_and_no_counters_of_other_programs) {
  EXPECT_EQ(ask("scoped", "orders:7/check"), 200);
  EXPECT_EQ(ask("scoped", "invoices/check"), 403);
  for (const auto* layout :
       {R"({"rate":"5/h","layout":"n8n"})", R"({"rate":"5/h","layout":"redisx"})"}) {
    EXPECT_EQ(ask("scoped", "orders/check", layout), 403) << layout;
    EXPECT_EQ(ask("locker", "orders/check", layout), 200) << layout;
  }
}

TEST_F(RateLimitTokens, the_servers_own_limits_cannot_be_used_up_by_clients) {
  EXPECT_EQ(ask("locker", "holdfast-server:%2Fv1%2Flocks%2F*:token:reader/check"), 403);
  EXPECT_EQ(ask("locker", "holdfast-server:%2Fv1%2Flocks%2F*:token:reader/peek"), 200);
}

}  // namespace
}  // namespace holdfast::server
