// SPDX-License-Identifier: Apache-2.0
//
// What the dashboard asks the server for.
#include <holdfast/client.hpp>

#include "server/auth/secret.hpp"
#include "server_fixture.hpp"

#include <boost/json/array.hpp>
#include <sys/stat.h>

#include <fstream>
#include <future>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class DashboardApiTest : public ServerTest {
 protected:
  static constexpr auto store = "memory:dashboard-api-test";

  void need_tokens() {
    options.token_file = (folder_.path() / "tokens").string();
    std::ofstream(options.token_file)
        << "reader " << to_hex(hash_of("read-a")) << " read a:\n"
        << "ops " << to_hex(hash_of("all")) << " admin * expires=2099-01-01T00:00:00Z\n";
    ASSERT_EQ(chmod(options.token_file.c_str(), 0600), 0);
  }
  HttpAnswer as(const std::string& token, std::string path, std::string body = {}) {
    HttpCall what{.method = body.empty() ? "GET" : "POST", .path = std::move(path), .body = body};
    if (!token.empty()) what.headers["Authorization"] = "Bearer " + token;
    return call(what);
  }
  // Of those who wait for it now, in milliseconds.
  std::int64_t longest_wait(const std::string& name) {
    std::int64_t longest = 0;
    const auto lock = get("/v1/locks/" + name).json();
    for (const auto& each : lock.at("waiters").as_array()) {
      longest = std::max(longest, each.at("waiting_ms").to_number<std::int64_t>());
    }
    return longest;
  }
  std::string release_of(const HttpAnswer& lease) {
    return R"({"owner":")" + lease.text("owner") + "\"}";
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(DashboardApiTest, a_timeline_has_whoever_held_and_waited_and_for_how_long) {
  start();
  const auto first = post("/v1/locks/a/acquire", R"({"metadata":{"host":"web-1","pid":7}})");
  auto second = post_later("/v1/locks/a/acquire", R"({"wait":"1m"})");
  ASSERT_TRUE(test::eventually([&] { return get("/v1/stats").number("waiters") == 1; }));
  EXPECT_EQ(post("/v1/locks/a/renew", release_of(first)).status, 200);
  EXPECT_EQ(post("/v1/locks/a/release", release_of(first)).status, 200);
  EXPECT_EQ(second.get().status, 200);
  const auto answer = get("/v1/locks/a/timeline");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto json = answer.json();
  EXPECT_EQ(json.at("name").as_string(), "a");
  EXPECT_FALSE(json.at("truncated").as_bool());
  EXPECT_EQ(json.at("waits").at("count").to_number<int>(), 1);
  EXPECT_EQ(json.at("holds").at("count").to_number<int>(), 1);
  std::multiset<std::string> types;
  std::string waiter;
  std::string holder;
  for (const auto& each : json.at("events").as_array()) {
    const auto& event = each.as_object();
    const std::string type(event.at("type").as_string());
    types.insert(type);
    if (type == "queued") waiter = event.at("party").as_string();
    if (type != "acquired") continue;
    EXPECT_TRUE(event.contains("expires_in_ms"));
    if (event.contains("waited_ms")) holder = event.at("party").as_string();
  }
  EXPECT_EQ(types,
            (std::multiset<std::string>{"acquired", "acquired", "queued", "released", "renewed"}));
  EXPECT_FALSE(waiter.empty());
  EXPECT_EQ(waiter, holder) << "whoever waited is known again when it holds";
  EXPECT_EQ(answer.body.find(first.text("owner")), std::string::npos);
}

TEST_F(DashboardApiTest, a_lock_to_which_nothing_happened_has_an_empty_timeline) {
  start();
  const auto answer = get("/v1/locks/never/timeline");
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.json().at("events").as_array().empty());
  EXPECT_EQ(get("/v1/locks/" + std::string(600, 'x') + "/timeline").status, 400);
}

TEST_F(DashboardApiTest, what_a_token_does_not_cover_looks_like_nothing) {
  need_tokens();
  start();
  as("all", "/v1/locks/b:1/acquire", "{}");
  as("all", "/v1/locks/b:1/acquire", "{}");
  as("all", "/v1/rate-limits/b:1/check", R"({"rate":"1/s"})");
  const auto hidden = as("read-a", "/v1/locks/b:1/timeline");
  EXPECT_EQ(hidden.status, 200);
  EXPECT_TRUE(hidden.json().at("events").as_array().empty());
  EXPECT_EQ(hidden.body.find("held"), std::string::npos);
  EXPECT_TRUE(as("read-a", "/v1/contention").json().at("names").as_array().empty());
  EXPECT_TRUE(as("read-a", "/v1/rate-limits").json().at("limits").as_array().empty());
  EXPECT_EQ(as("all", "/v1/locks/b:1/timeline").json().at("events").as_array().size(), 1U);
  EXPECT_EQ(as("all", "/v1/contention").json().at("names").as_array().size(), 1U);
}

TEST_F(DashboardApiTest, a_token_may_ask_whose_it_is) {
  need_tokens();
  start();
  EXPECT_EQ(get("/v1/me").status, 401);
  const auto reader = as("read-a", "/v1/me").json();
  EXPECT_EQ(reader.at("name").as_string(), "reader");
  EXPECT_EQ(reader.at("verbs").as_array(), (boost::json::array{"read"}));
  EXPECT_EQ(reader.at("prefixes").as_array(), (boost::json::array{"a:"}));
  EXPECT_TRUE(reader.at("expires_at").is_null());
  EXPECT_TRUE(reader.at("needs_token").as_bool());
  const auto ops = as("all", "/v1/me").json();
  EXPECT_EQ(ops.at("verbs").as_array(), (boost::json::array{"read", "lock", "admin"}));
  EXPECT_EQ(ops.at("expires_at").as_string(), "2099-01-01T00:00:00.000Z");
}

TEST_F(DashboardApiTest, without_tokens_everybody_is_anonymous_and_may_do_everything) {
  start();
  const auto me = get("/v1/me").json();
  EXPECT_EQ(me.at("name").as_string(), "anonymous");
  EXPECT_FALSE(me.at("needs_token").as_bool());
  EXPECT_EQ(me.at("verbs").as_array().size(), 3U);
}

TEST_F(DashboardApiTest, the_last_minute_is_there_to_look_at) {
  start();
  post("/v1/locks/a/acquire", R"({"ttl":"1m"})");
  EXPECT_TRUE(test::eventually([&] {
    const auto json = get("/v1/stats/history?span=1m").json();
    const auto& held = json.at("held").as_array();
    return !held.empty() && held.back().is_number() && held.back().to_number<int>() == 1;
  }));
  EXPECT_EQ(get("/v1/stats/history").json().at("span").as_string(), "1m");
  EXPECT_EQ(get("/v1/stats/history?span=1h").status, 200);
  const auto refused = get("/v1/stats/history?span=1y");
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.text("detail").find("1m, 15m or 1h"), std::string::npos);
  EXPECT_EQ(get("/v1/stats/history?spam=1m").status, 400);
}

TEST_F(DashboardApiTest, names_are_ranked_by_the_time_they_were_waited_for) {
  start();
  for (int i = 0; i < 3; ++i) post("/v1/locks/often/acquire");
  post("/v1/locks/long/acquire");
  EXPECT_EQ(post("/v1/locks/long/acquire", R"({"wait":"150ms"})").status, 408);
  const auto json = get("/v1/contention").json();
  const auto& names = json.at("names").as_array();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0].at("name").as_string(), "long");
  EXPECT_GE(names[0].at("longest_ms").to_number<int>(), 140);
  EXPECT_EQ(names[1].at("refused").to_number<int>(), 2);
}

TEST_F(DashboardApiTest, waits_and_expiries_of_other_processes_are_counted_as_they_are_seen) {
  start(store);
  auto client = open(store);
  ASSERT_TRUE(client);
  HttpConnection listener(address);
  listener.send(test::request_text({.method = "GET", .path = "/v1/events"}, address));
  auto held = client->mutex("elsewhere").acquire({.ttl = test::stretched(1500ms)});
  ASSERT_TRUE(held);
  auto waiting = std::async(std::launch::async, [&] {
    return client->mutex("elsewhere").acquire({.ttl = 1min, .wait = 1min}).has_value();
  });
  // It is renewed until somebody has waited long enough; then it ends by itself.
  EXPECT_TRUE(test::eventually([&] { return longest_wait("elsewhere") > 600; }));
  held->detach();
  EXPECT_TRUE(waiting.get());
  EXPECT_TRUE(test::eventually([&] {
    const auto json = get("/v1/contention").json();
    const auto& names = json.at("names").as_array();
    return names.size() == 1 && names[0].at("waited_ms").to_number<int>() > 500;
  })) << get("/v1/contention").body;
  EXPECT_TRUE(test::eventually([&] {
    return get("/metrics").body.contains("holdfast_expired_leases_total 1");
  })) << get("/v1/locks/elsewhere/timeline").body;
}

TEST_F(DashboardApiTest, rate_limits_that_were_checked_here_are_listed_with_what_came_of_it) {
  start();
  for (int i = 0; i < 3; ++i) post("/v1/rate-limits/mail/check", R"({"rate":"2/h"})");
  post("/v1/rate-limits/api/check", R"({"rate":"10/s","burst":5})");
  const auto json = get("/v1/rate-limits").json();
  const auto& limits = json.at("limits").as_array();
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].at("scope").as_string(), "api");
  EXPECT_EQ(limits[0].at("algorithm").as_string(), "token_bucket");
  EXPECT_TRUE(limits[0].at("last_denied_at").is_null());
  EXPECT_EQ(limits[1].at("scope").as_string(), "mail");
  EXPECT_EQ(limits[1].at("rate").as_string(), "2/h");
  EXPECT_EQ(limits[1].at("allowed").to_number<int>(), 2);
  EXPECT_EQ(limits[1].at("denied").to_number<int>(), 1);
  EXPECT_EQ(limits[1].at("remaining").to_number<int>(), 0);
  EXPECT_EQ(post("/v1/rate-limits/mail/reset", R"({"rate":"2/h"})").status, 200);
  EXPECT_EQ(get("/v1/rate-limits").json().at("limits").at(1).at("remaining").to_number<int>(), 2);
}

TEST_F(DashboardApiTest, a_limit_whose_time_is_over_has_all_of_it_left) {
  start();
  post("/v1/rate-limits/burst/check", R"({"rate":"1/100ms"})");
  boost::json::value limit;
  EXPECT_TRUE(test::eventually([&] {
    limit = get("/v1/rate-limits").json().at("limits").at(0);
    return limit.at("count").to_number<int>() == 0;
  }));
  EXPECT_EQ(limit.at("remaining").to_number<int>(), 1);
  EXPECT_EQ(limit.at("reset_ms").to_number<int>(), 0);
}

TEST_F(DashboardApiTest, the_audit_trail_can_be_searched) {
  start();
  const auto lease = post("/v1/locks/a/acquire");
  post("/v1/locks/a/release", release_of(lease));
  post("/v1/locks/b/acquire");
  const auto count = [&](const std::string& query) {
    const auto page = get("/v1/audit?" + query);
    EXPECT_EQ(page.status, 200) << page.body;
    return page.json().at("entries").as_array().size();
  };
  EXPECT_EQ(count("what=acquired"), 2U);
  EXPECT_EQ(count("what=acquired&prefix=b"), 1U);
  EXPECT_EQ(count("principal=anonymous"), 3U);
  EXPECT_EQ(count("principal=nobody"), 0U);
  EXPECT_EQ(count("since=2099-01-01T00:00:00Z"), 0U);
  EXPECT_EQ(count("until=2001-01-01T00:00:00Z"), 0U);
  EXPECT_EQ(count("what=released&since=2001-01-01T00:00:00Z&until=2099-01-01T00:00:00%2B01:00"),
            1U);
  EXPECT_EQ(get("/v1/audit?since=yesterday").status, 400);
  EXPECT_EQ(get("/v1/audit?who=me").status, 400);
}

TEST_F(DashboardApiTest, the_page_is_served_to_everybody_under_a_strict_policy) {
  need_tokens();
  start();
  const auto page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.header("content-type").find("text/html"), std::string::npos);
  const auto policy = page.header("content-security-policy");
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(page.header("x-content-type-options"), "nosniff");
  EXPECT_NE(page.body.find("Holdfast"), std::string::npos);
  EXPECT_EQ(page.body.find("<script>"), std::string::npos);
  EXPECT_EQ(get("/assets/nothing.js").status, 404);
  EXPECT_EQ(get("/assets/..%2Findex.html").status, 404);
}

}  // namespace
}  // namespace holdfast::server
