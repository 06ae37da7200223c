// SPDX-License-Identifier: Apache-2.0
//
// n8n's four primitives over HTTP: every payload as the original has it, on a store without keys of
// its own. What they share with n8n on Redis is in tests/interop.
#include "server/auth/secret.hpp"
#include "server/auth/token_edit.hpp"
#include "server_fixture.hpp"
#include "support/redis_server.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <future>
#include <regex>

namespace holdfast::server {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using testing::HasSubstr;

class N8nHttp : public ServerTest {
 protected:
  HttpAnswer acquire(std::string body) { return post("/n8n/lock_acquisition", std::move(body)); }
  HttpAnswer release(std::string body) { return post("/n8n/lock_release", std::move(body)); }
  HttpAnswer check(std::string body) { return post("/n8n/rate_limit_check", std::move(body)); }
  HttpAnswer clean_up(std::string body) {
    return post("/n8n/error_handler_lock_cleanup", std::move(body));
  }
  static json::object object(const HttpAnswer& answer) {
    return json::parse(answer.body).as_object();
  }
  static std::string message(const HttpAnswer& answer) {
    return std::string(object(answer).at("message").as_string());
  }
  std::size_t held_names() { return object(get("/v1/locks")).at("locks").as_array().size(); }
  // Of the scope a.
  bool comes_to_waiters(std::size_t count) { return has_waiters("n8n-lock-a", count); }
  // With what changes from run to run replaced by what it is.
  static std::string golden(const HttpAnswer& answer) {
    static const std::regex time(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
    static const std::regex uuid(
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
        "[0-9a-f]{12}");
    static const std::regex reset(R"("reset_ms":\d+)");
    static const std::regex fence(R"("fence":[1-9]\d{15})");
    auto text = std::regex_replace(answer.body, time, "<time>");
    text = std::regex_replace(text, uuid, "<uuid>");
    text = std::regex_replace(text, fence, R"("fence":<fence>)");
    return std::regex_replace(text, reset, R"("reset_ms":<ms>)");
  }
};

TEST_F(N8nHttp, its_checks_of_rates_are_in_the_metrics_as_all_others_are) {
  start();
  for (int each = 0; each < 2; ++each) check(R"({"scope":"api","limit":1,"windowSeconds":86400})");
  const auto metrics = get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("holdfast_rate_limit_checks_total{result=\"allowed\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("holdfast_rate_limit_checks_total{result=\"denied\"} 1\n"));
}

TEST_F(N8nHttp, an_acquisition_answers_in_their_shape) {
  start();
  const auto whole = acquire(
      R"({"scope":"excel-42","ttl_seconds":600,"execution_id":"77","wait_till_lock_released":true,)"
      R"("max_wait_seconds":30,"lock_id":"mine","workflow_id":"w1","workflow_name":"Nightly"})");
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(golden(whole),
            R"({"acquired":true,"count":1,"scope":"excel-42","lock_id":"mine",)"
            R"("key":"n8n-lock-excel-42","meta_key":"n8n-lock-excel-42:meta","workflow_id":"w1",)"
            R"("workflow_name":"Nightly","execution_id":"77","locked_at":"<time>",)"
            R"("fence":<fence>})");
  const auto empty = acquire("");
  EXPECT_EQ(empty.status, 200);
  EXPECT_EQ(golden(empty),
            R"({"acquired":true,"count":1,"scope":"default","lock_id":"<uuid>",)"
            R"("key":"n8n-lock-default","meta_key":"n8n-lock-default:meta",)"
            R"("workflow_id":"unknown","workflow_name":"unknown","execution_id":"unknown",)"
            R"("locked_at":"<time>","fence":<fence>})");
  // A day, unless it is said otherwise.
  const auto seen = object(get("/v1/locks/n8n-lock-default"));
  const auto left = seen.at("holders").as_array().front().at("expires_in_ms").to_number<double>();
  EXPECT_NEAR(left, 86'400'000, 60'000);
}

TEST_F(N8nHttp, a_release_answers_in_their_shape) {
  start();
  ASSERT_EQ(acquire(R"({"scope":"a","lock_id":"mine"})").status, 200);
  const auto released = release(R"({"scope":"a","lock_id":"mine"})");
  EXPECT_EQ(released.status, 200);
  EXPECT_EQ(released.body, R"({"released":true,"idempotent":false,"scope":"a","lock_id":"mine"})");
  const auto again = release(R"({"scope":"a","lock_id":"mine"})");
  EXPECT_EQ(again.body, R"({"released":true,"idempotent":true,"scope":"a","lock_id":"mine"})");
  EXPECT_EQ(release("").body,
            R"({"released":true,"idempotent":true,"scope":"default","lock_id":null})");
}

// A lock_id of the caller's own may be used again.
TEST_F(N8nHttp, a_late_release_with_a_fence_leaves_the_next_lock_of_the_same_lock_id_alone) {
  start();
  const auto take = [&] { return acquire(R"({"scope":"a","lock_id":"job-17"})").number("fence"); };
  const auto release_of = [&](std::int64_t fence) {
    return release(fmt::format(R"({{"scope":"a","lock_id":"job-17","fence":{}}})", fence));
  };
  const auto first = take();
  EXPECT_EQ(object(release_of(first)).at("idempotent"), false);
  const auto next = take();
  const auto late = release_of(first);
  EXPECT_EQ(late.status, 200) << late.body;
  EXPECT_EQ(object(late).at("idempotent"), true);
  EXPECT_EQ(held_names(), 1U);
  EXPECT_EQ(object(release_of(next)).at("idempotent"), false);
  ASSERT_EQ(acquire(R"({"scope":"a","lock_id":"other"})").status, 200);
  EXPECT_EQ(release_of(next).status, 409);
}

TEST_F(N8nHttp, failures_have_their_words_and_a_status_of_their_own) {
  start();
  ASSERT_EQ(acquire(R"({"scope":"a","lock_id":"mine","workflow_id":"w1","workflow_name":"Nightly",)"
                    R"("execution_id":"77"})")
                .status,
            200);
  const auto held = acquire(R"({"scope":"a","wait_till_lock_released":false})");
  EXPECT_EQ(held.status, 423);
  EXPECT_EQ(message(held),
            "Lock acquisition failed (fail-fast): scope 'a' is held (count=2). Caller passed "
            "wait_till_lock_released=false.");
  const auto late = acquire(R"({"scope":"a","max_wait_seconds":1})");
  EXPECT_EQ(late.status, 408);
  EXPECT_EQ(message(late), "Lock acquisition timed out after 1s waiting for scope 'a'.");
  for (const auto* id : {R"("wrong")", "null"}) {
    const auto theirs = release(fmt::format(R"({{"scope":"a","lock_id":{}}})", id));
    EXPECT_EQ(theirs.status, 409);
    const std::string given = id == std::string("null") ? "null" : "wrong";
    const std::regex words(
        "LOGIC ERROR: Lock held by Nightly \\(id: w1, execution: 77\\) since "
        "20[-0-9]{8}T[:0-9]{8}\\.[0-9]{3}Z, not by lock_id=" +
        given);
    EXPECT_TRUE(std::regex_match(message(theirs), words)) << message(theirs);
  }
  EXPECT_EQ(held_names(), 1U);
}

TEST_F(N8nHttp, a_waiter_gets_the_lock_when_it_is_released_and_not_a_second_later) {
  start();
  ASSERT_EQ(acquire(R"({"scope":"a","lock_id":"first"})").status, 200);
  auto waiting = std::async(std::launch::async, [&] {
    auto answer = acquire(R"({"scope":"a","lock_id":"second","max_wait_seconds":60})");
    return std::pair(std::move(answer), std::chrono::steady_clock::now());
  });
  ASSERT_TRUE(comes_to_waiters(1));
  const auto released = std::chrono::steady_clock::now();
  ASSERT_EQ(release(R"({"scope":"a","lock_id":"first"})").status, 200);
  const auto [answer, at] = waiting.get();
  EXPECT_EQ(answer.status, 200);
  EXPECT_LT(at - released, test::at_most(500ms));
}

TEST_F(N8nHttp, a_rate_limit_answers_in_their_shape) {
  start();
  const auto first = check("");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(golden(first),
            R"({"allowed":true,"scope":"default","count":1,"limit":10,"remaining":9,)"
            R"("reset_ms":<ms>})");
  const std::string two = R"({"scope":"api","limit":2,"windowSeconds":86400})";
  EXPECT_EQ(object(check(two)).at("remaining").to_number<int>(), 1);
  EXPECT_EQ(object(check(two)).at("allowed"), true);
  const auto denied = check(two);
  EXPECT_EQ(denied.status, 200);
  EXPECT_EQ(golden(denied), R"({"allowed":false,"scope":"api","count":3,"limit":2,"remaining":0,)"
                            R"("reset_ms":<ms>})");
}

TEST_F(N8nHttp, a_clean_up_says_which_scopes_were_registered_and_which_found) {
  options.n8n.lock_scopes = {"config"};
  start();
  for (const auto* scope : {"config", "request", "dynamic-7"}) {
    const auto body = fmt::format(R"({{"scope":"{}","execution_id":"77"}})", scope);
    ASSERT_EQ(acquire(body).status, 200);
  }
  ASSERT_EQ(acquire(R"({"scope":"other","execution_id":"78"})").status, 200);
  // As the error trigger gives it.
  const auto done =
      clean_up(R"({"execution":{"id":"77","error":{"message":"no"},"mode":"trigger"},)"
               R"("workflow":{"id":"w1"},"lockScopes":["request","never-held"]})");
  EXPECT_EQ(done.status, 200);
  EXPECT_EQ(done.body,
            R"({"cleaned":true,"cleaned_count":3,"scopes":["config","dynamic-7","request"],)"
            R"("registered":["config","request"],"found":["dynamic-7"]})");
  const auto again = clean_up(R"({"execution_id":"77"})");
  EXPECT_EQ(again.body,
            R"({"cleaned":false,"cleaned_count":0,"scopes":[],"registered":[],"found":[],)"
            R"("reason":"no locks owned by failed execution"})");
  EXPECT_EQ(held_names(), 1U);
  EXPECT_EQ(clean_up(R"({"executionId":78})").status, 200);
  EXPECT_EQ(held_names(), 0U);
}

struct Bad {
  const char* path;
  const char* body;
  const char* field;
};

class N8nBadInput : public N8nHttp, public testing::WithParamInterface<Bad> {};

TEST_P(N8nBadInput, is_a_400_that_names_the_field_and_changes_nothing) {
  start();
  const auto [path, body, field] = GetParam();
  const auto answer = post(std::string("/n8n/") + path, body);
  EXPECT_EQ(answer.status, 400) << answer.body;
  EXPECT_THAT(message(answer), HasSubstr(field));
  EXPECT_EQ(held_names(), 0U);
}

constexpr auto acquire_path = "lock_acquisition";
constexpr auto release_path = "lock_release";
constexpr auto rate_path = "rate_limit_check";
constexpr auto cleanup_path = "error_handler_lock_cleanup";

INSTANTIATE_TEST_SUITE_P(
    OfEveryField, N8nBadInput,
    testing::Values(
        Bad{acquire_path, R"({"ttl_seconds":0})", "ttl_seconds"},
        Bad{acquire_path, R"({"ttl_seconds":-1})", "ttl_seconds"},
        Bad{acquire_path, R"({"ttl_seconds":"60"})", "ttl_seconds"},
        Bad{acquire_path, R"({"ttl_seconds":1.5})", "ttl_seconds"},
        Bad{acquire_path, R"({"ttl_seconds":86401})", "ttl_seconds"},
        Bad{acquire_path, R"({"max_wait_seconds":-1})", "max_wait_seconds"},
        Bad{acquire_path, R"({"max_wait_seconds":86401})", "max_wait_seconds"},
        Bad{acquire_path, R"({"wait_till_lock_released":"no"})", "wait_till_lock_released"},
        Bad{acquire_path, R"({"lock_id":7})", "lock_id"},
        Bad{acquire_path, R"({"lock_id":"a\nb"})", "lock_id"},
        Bad{acquire_path, R"({"scope":""})", "scope"}, Bad{acquire_path, R"({"scope":7})", "scope"},
        Bad{acquire_path, R"({"scope":"x:meta"})", "scope"},
        Bad{acquire_path, R"({"execution_id":7})", "execution_id"},
        Bad{acquire_path, R"({"workflow_name":"a\u0007b"})", "workflow_name"},
        Bad{acquire_path, R"({"ttl":60})", "ttl"}, Bad{acquire_path, "[]", "object"},
        Bad{acquire_path, "{", "JSON"}, Bad{release_path, R"({"lock_id":7})", "lock_id"},
        Bad{release_path, R"({"scope":""})", "scope"},
        Bad{release_path, R"({"scope":"x:meta"})", "scope"},
        Bad{release_path, R"({"scope":"a","lock_id":""})", "lock_id"},
        Bad{release_path, R"({"scope":"a","lock_id":"x","fence":0})",
            "fence: must be an integer from 1 to 9223372036854775807"},
        Bad{release_path, R"({"scope":"a","lock_id":"x","fence":"7"})", "fence: must be"},
        Bad{rate_path, R"({"limit":0})", "limit"}, Bad{rate_path, R"({"limit":-5})", "limit"},
        Bad{rate_path, R"({"limit":"10"})", "limit"},
        Bad{rate_path, R"({"windowSeconds":0})", "windowSeconds"},
        Bad{rate_path, R"({"windowSeconds":0.5})", "windowSeconds"},
        Bad{rate_path, R"({"scope":""})", "scope"}, Bad{cleanup_path, R"({})", "execution_id"},
        Bad{cleanup_path, R"({"execution_id":"unknown"})", "execution_id"},
        Bad{cleanup_path, R"({"execution_id":""})", "execution_id"},
        Bad{cleanup_path, R"({"execution":"77"})", "execution"},
        Bad{cleanup_path, R"({"execution":{"id":[]}})", "execution.id"},
        Bad{cleanup_path, R"({"execution_id":"7","lockScopes":"a"})", "lockScopes"},
        Bad{cleanup_path, R"({"execution_id":"7","lockScopes":[1]})", "lockScopes"},
        Bad{cleanup_path, R"({"execution_id":"7","lockScopes":["x:meta"]})", "lockScopes"}));

TEST_F(N8nHttp, long_texts_are_refused_and_name_the_limit) {
  start();
  const std::string long_text(401, 'x');
  const auto scope = acquire(fmt::format(R"({{"scope":"{}"}})", long_text));
  EXPECT_EQ(scope.status, 400);
  EXPECT_THAT(message(scope), HasSubstr("400"));
  for (const auto* field : {"lock_id", "execution_id", "workflow_id", "workflow_name"}) {
    const auto answer = acquire(fmt::format(R"({{"{}":"{}"}})", field, long_text));
    EXPECT_EQ(answer.status, 400) << field;
    EXPECT_THAT(message(answer), HasSubstr(field));
    EXPECT_THAT(message(answer), HasSubstr("256"));
  }
}

TEST_F(N8nHttp, a_caller_that_left_while_it_waited_holds_nothing) {
  start();
  ASSERT_EQ(acquire(R"({"scope":"a","lock_id":"first"})").status, 200);
  {
    const std::string body = R"({"scope":"a","lock_id":"gone"})";
    HttpConnection leaving(address);
    leaving.send(
        fmt::format("POST /n8n/lock_acquisition HTTP/1.1\r\nHost: {}\r\n"
                    "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                    address, body.size(), body));
    ASSERT_TRUE(comes_to_waiters(1));
  }
  ASSERT_TRUE(comes_to_waiters(0));
  ASSERT_EQ(release(R"({"scope":"a","lock_id":"first"})").status, 200);
  EXPECT_EQ(acquire(R"({"scope":"a","wait_till_lock_released":false})").status, 200);
}

TEST_F(N8nHttp, whoever_only_waits_cannot_release) {
  start();
  ASSERT_EQ(acquire(R"({"scope":"a","lock_id":"holder"})").status, 200);
  auto waiting = std::async(std::launch::async, [&] {
    return acquire(R"({"scope":"a","lock_id":"waiter","max_wait_seconds":60})").status;
  });
  ASSERT_TRUE(comes_to_waiters(1));
  EXPECT_EQ(release(R"({"scope":"a","lock_id":"waiter"})").status, 409);
  EXPECT_EQ(release(R"({"scope":"a","lock_id":"holder"})").status, 200);
  EXPECT_EQ(waiting.get(), 200);
}

TEST_F(N8nHttp, who_may_wait_no_time_has_timed_out) {
  start();
  ASSERT_EQ(acquire(R"({"scope":"a"})").status, 200);
  const auto late = acquire(R"({"scope":"a","max_wait_seconds":0})");
  EXPECT_EQ(late.status, 408);
  EXPECT_EQ(message(late), "Lock acquisition timed out after 0s waiting for scope 'a'.");
}

TEST_F(N8nHttp, an_item_without_an_execution_may_name_it_otherwise) {
  start();
  ASSERT_EQ(acquire(R"({"scope":"a","execution_id":"77"})").status, 200);
  EXPECT_EQ(object(clean_up(R"({"execution":null,"executionId":"77"})")).at("cleaned"), true);
}

TEST_F(N8nHttp, a_store_of_their_own_has_their_keys_whatever_its_url_says) {
  const test::RedisServer redis;
  test::RawRedis raw(redis);
  options.n8n.store = redis.url();
  start();
  ASSERT_EQ(acquire(R"({"scope":"a","execution_id":"77"})").status, 200);
  EXPECT_EQ(raw.text({"GET", "n8n-lock-a"}), "1");
  EXPECT_EQ(object(clean_up(R"({"execution_id":"77"})")).at("scopes"), json::array{"a"});
  EXPECT_EQ(raw.integer({"EXISTS", "n8n-lock-a"}), 0);
}

TEST_F(N8nHttp, a_token_reaches_and_learns_of_no_scope_beyond_its_prefixes) {
  const test::TemporaryFolder folder;
  options.token_file = (folder.path() / "tokens").string();
  for (const auto* prefix : {"n8n-lock-", "n8n-lock-shop-"}) {
    const Principal principal{.name = prefix,
                              .verbs = {Verb::lock},
                              .prefixes = {prefix},
                              .secret_hash = hash_of(prefix)};
    ASSERT_TRUE(add_token(options.token_file, principal));
  }
  start();
  const auto as = [&](const char* token, const std::string& what, const std::string& body) {
    return call({.method = "POST",
                 .path = "/n8n/" + what,
                 .body = body,
                 .headers = {{"Authorization", std::string("Bearer ") + token}}});
  };
  for (const auto* scope : {"shop-1", "bank-1", "shop"}) {
    const auto body = fmt::format(R"({{"scope":"{}","lock_id":"x","execution_id":"77"}})", scope);
    ASSERT_EQ(as("n8n-lock-", "lock_acquisition", body).status, 200);
  }
  const auto* shop = "n8n-lock-shop-";
  const auto is_silent = [](const HttpAnswer& answer) {
    return answer.status == 403 && answer.body.find("77") == std::string::npos;
  };
  EXPECT_TRUE(is_silent(as(shop, "lock_acquisition", R"({"scope":"bank-1"})")));
  EXPECT_TRUE(is_silent(as(shop, "lock_release", R"({"scope":"bank-1","lock_id":"x"})")));
  EXPECT_TRUE(is_silent(as(shop, "rate_limit_check", R"({"scope":"shop-1"})")));
  const auto cleaned = as(shop, "error_handler_lock_cleanup",
                          R"({"execution_id":"77","lockScopes":["bank-1","shop-2"]})");
  EXPECT_EQ(cleaned.body, R"({"cleaned":true,"cleaned_count":1,"scopes":["shop-1"],)"
                          R"("registered":[],"found":["shop-1"]})");
  EXPECT_EQ(as("n8n-lock-", "lock_release", R"({"scope":"bank-1","lock_id":"x"})").status, 200);
}

}  // namespace
}  // namespace holdfast::server
