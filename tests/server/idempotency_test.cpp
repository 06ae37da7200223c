// SPDX-License-Identifier: Apache-2.0
//
// /v1/idempotency over HTTP: what each call answers, who may, and what it refuses.
#include "idempotency_fixture.hpp"
#include "support/redis_server.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

// The same on every store that keeps runs.
class IdempotencyStores : public IdempotencyTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "memory") return start();
    redis_.emplace();
    start(redis_->url());
  }

 private:
  std::optional<test::RedisServer> redis_;
};

INSTANTIATE_TEST_SUITE_P(Stores, IdempotencyStores, testing::Values("memory", "redis"),
                         [](const auto& store) { return std::string(store.param); });

TEST_P(IdempotencyStores, the_first_runs_and_the_others_are_told_its_answer) {
  const auto first = begin(R"({"fingerprint":"12 EUR","guard":"1m"})");
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(first.text("key"), "pay-7");
  EXPECT_EQ(first.text("state"), "fresh");
  EXPECT_FALSE(first.json().at("taken_over").as_bool());
  EXPECT_GT(first.number("fence"), 0);
  EXPECT_LE(first.number("guard_ms"), 60'000);
  EXPECT_GT(first.number("guard_ms"), 30'000);
  EXPECT_EQ(first.header("idempotency-replayed"), "");

  const auto second = begin(R"({"fingerprint":"12 EUR"})");
  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(second.code(), "in_progress");
  const auto seconds = std::stol(second.header("retry-after"));
  EXPECT_GE(seconds, 1);
  EXPECT_LE(seconds, 60);
  EXPECT_LE(second.number("retry_after_ms"), 60'000);

  const auto completed = say(
      "complete",
      with_owner(
          first.text("owner"),
          R"("status":201,"headers":{"Location":"/charges/9"},"body":{"charge":9},"ttl":"1h")"));
  ASSERT_EQ(completed.status, 200) << completed.body;
  EXPECT_EQ(completed.text("state"), "completed");
  EXPECT_EQ(completed.number("fence"), first.number("fence"));
  EXPECT_GT(completed.number("expires_in_ms"), 3'500'000);

  const auto replayed = begin(R"({"fingerprint":"12 EUR"})");
  ASSERT_EQ(replayed.status, 200) << replayed.body;
  EXPECT_EQ(replayed.text("state"), "replay");
  EXPECT_EQ(replayed.header("idempotency-replayed"), "true");
  EXPECT_EQ(replayed.text("owner"), "") << "only the one that runs has it";
  const auto result = replayed.json().at("result").as_object();
  EXPECT_EQ(result.at("status"), 201);
  EXPECT_EQ(result.at("headers").at("Location"), "/charges/9");
  EXPECT_EQ(result.at("body").at("charge"), 9);
  EXPECT_EQ(begin("{}").text("state"), "replay") << "no fingerprint agrees with all";
}

TEST_P(IdempotencyStores, another_fingerprint_is_422_whatever_state_the_run_is_in) {
  const auto owner = begun(R"({"fingerprint":"12 EUR"})");
  const auto other = begin(R"({"fingerprint":"13 EUR"})");
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.code(), "mismatch");
  EXPECT_EQ(other.header("content-type"), "application/problem+json");
  ASSERT_EQ(say("complete", with_owner(owner)).status, 200);
  EXPECT_EQ(begin(R"({"fingerprint":"13 EUR"})").status, 422);
  EXPECT_EQ(begin(R"({"fingerprint":"12 EUR"})").status, 200);
}

TEST_P(IdempotencyStores, a_failure_is_told_for_its_time_or_not_at_all) {
  auto owner = begun();
  ASSERT_EQ(say("fail", with_owner(owner, R"("error":"card declined","keep_failure":"1h")")).status,
            200);
  const auto told = begin();
  EXPECT_EQ(told.status, 409);
  EXPECT_EQ(told.code(), "failed_before");
  EXPECT_EQ(told.text("failure"), "card declined");
  EXPECT_GT(std::stol(told.header("retry-after")), 3'000);
  EXPECT_EQ(look().text("state"), "failed");
  EXPECT_EQ(look().text("failure"), "card declined");

  owner = begun("{}", "pay-8");
  const auto failed =
      say("fail", with_owner(owner, R"("error":"no route","keep_failure":"0s")"), "pay-8");
  EXPECT_EQ(failed.status, 200);
  EXPECT_EQ(look("pay-8").status, 404);
  EXPECT_NE(begun("{}", "pay-8"), owner);
}

TEST_P(IdempotencyStores, an_abandoned_run_is_taken_over_or_refused_and_its_owner_is_too_late) {
  const auto first = begin(R"({"owner":"first"})");
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(say("abandon", with_owner("first")).status, 200);
  EXPECT_EQ(look().text("state"), "abandoned");
  const auto refused = begin(R"({"take_over":"refuse"})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "unknown");
  EXPECT_EQ(refused.header("retry-after"), "");

  const auto second = begin(R"({"take_over":"run"})");
  ASSERT_EQ(second.status, 200) << second.body;
  EXPECT_TRUE(second.json().at("taken_over").as_bool());
  EXPECT_GT(second.number("fence"), first.number("fence"));
  for (const auto* verb : {"complete", "abandon", "renew"}) {
    const auto late = say(verb, with_owner("first"));
    EXPECT_EQ(late.status, 410) << verb << late.body;
    EXPECT_EQ(late.code(), "lost");
  }
  EXPECT_EQ(say("fail", with_owner("first", R"("error":"late")")).status, 410);
  EXPECT_EQ(say("complete", with_owner(second.text("owner"), R"("result":"second")")).status, 200);
  EXPECT_EQ(begin().json().at("result").at("body"), "second");
}

TEST_P(IdempotencyStores, a_run_without_a_sign_of_life_is_taken_over_and_one_with_it_is_not) {
  const auto silent = begun(R"({"guard":"100ms"})");
  ASSERT_TRUE(test::eventually([&] { return look().text("state") == "abandoned"; }));
  EXPECT_TRUE(begin().json().at("taken_over").as_bool());

  const auto owner = begun(R"({"guard":"10s"})", "pay-8");
  const auto renewed = say("renew", with_owner(owner, R"("guard":"1h")"), "pay-8");
  ASSERT_EQ(renewed.status, 200) << renewed.body;
  EXPECT_GT(renewed.number("guard_ms"), 3'500'000);
  EXPECT_EQ(begin("{}", "pay-8").code(), "in_progress");
  EXPECT_GT(look("pay-8").number("guard_ms"), 3'500'000);
}

TEST_P(IdempotencyStores, a_begin_that_is_repeated_by_its_owner_is_the_same_run) {
  const auto first = begin(R"({"owner":"job-1"})");
  const auto again = begin(R"({"owner":"job-1"})");
  EXPECT_EQ(again.text("state"), "fresh");
  EXPECT_EQ(again.number("fence"), first.number("fence"));
  EXPECT_EQ(begin(R"({"owner":"job-2"})").code(), "in_progress");
  EXPECT_EQ(say("complete", with_owner("job-1", R"("result":1)")).status, 200);
  EXPECT_EQ(say("complete", with_owner("job-1", R"("result":2)")).status, 200) << "a repeated word";
  EXPECT_EQ(begin().json().at("result").at("body"), 1) << "changes nothing";
}

TEST_P(IdempotencyStores, whoever_waits_is_told_the_answer) {
  const auto owner = begun();
  auto waiting = std::async(std::launch::async, [&] { return begin(R"({"wait":"1m"})"); });
  ASSERT_TRUE(test::eventually([&] { return get("/v1/stats").number("waiters") == 1; }));
  ASSERT_EQ(say("complete", with_owner(owner, R"("result":"done")")).status, 200);
  const auto told = waiting.get();
  EXPECT_EQ(told.status, 200) << told.body;
  EXPECT_EQ(told.json().at("result").at("body"), "done");
}

TEST_P(IdempotencyStores, forgetting_needs_a_reason_and_lets_it_happen_again) {
  const auto owner = begun();
  ASSERT_EQ(say("complete", with_owner(owner)).status, 200);
  EXPECT_EQ(forget("{}").status, 400);
  EXPECT_EQ(look().status, 200);
  const auto forgotten = forget(R"({"reason":"refunded by hand"})");
  EXPECT_EQ(forgotten.status, 200) << forgotten.body;
  EXPECT_EQ(forgotten.text("was"), "completed");
  EXPECT_EQ(forget(R"({"reason":"again"})").status, 404);
  EXPECT_EQ(look().status, 404);
  const auto page = get("/v1/audit?limit=1").json();
  EXPECT_EQ(page.at("entries").at(0).at("what"), "run_forgotten");
  EXPECT_EQ(page.at("entries").at(0).at("name"), "pay-7");
  EXPECT_EQ(page.at("entries").at(0).at("reason"), "refunded by hand");
  begun();
}

TEST_F(IdempotencyTest, of_twenty_at_the_same_time_one_runs) {
  start();
  std::vector<std::future<HttpAnswer>> all;
  for (int each = 0; each < 20; ++each) {
    all.push_back(std::async(std::launch::async, [&] { return begin(R"({"fingerprint":"x"})"); }));
  }
  int fresh = 0;
  for (auto& each : all) {
    const auto answer = each.get();
    if (answer.status == 200 && answer.text("state") == "fresh") ++fresh;
    EXPECT_TRUE(answer.status == 200 || answer.code() == "in_progress") << answer.body;
  }
  EXPECT_EQ(fresh, 1);
}

TEST_F(IdempotencyTest, looking_never_shows_the_owner) {
  start();
  EXPECT_EQ(look().status, 404);
  const auto owner = begun();
  const auto running = look();
  EXPECT_EQ(running.status, 200);
  EXPECT_EQ(running.text("state"), "in_progress");
  EXPECT_GT(running.number("guard_ms"), 0);
  EXPECT_EQ(running.body.find(owner), std::string::npos);
  ASSERT_EQ(say("complete", with_owner(owner, R"("result":[1])")).status, 200);
  const auto completed = look();
  EXPECT_EQ(completed.text("state"), "completed");
  EXPECT_EQ(completed.json().at("result").at("body").at(0), 1);
  EXPECT_EQ(completed.body.find(owner), std::string::npos);
}

TEST_F(IdempotencyTest, bodies_come_back_as_they_are) {
  start();
  const auto kept = [&](const std::string& fields) {
    static int count = 0;
    const auto key = fmt::format("body-{}", ++count);
    const auto owner = begun("{}", key);
    const auto completed = say("complete", with_owner(owner, fields), key);
    EXPECT_EQ(completed.status, 200) << completed.body;
    return begin("{}", key);
  };
  EXPECT_EQ(kept(R"("body":"plain words")").json().at("result").at("body"), "plain words");
  EXPECT_TRUE(kept(R"("status":204)").json().at("result").at("body").is_null());
  // JSON as a text keeps every digit, which a reader of JSON need not.
  EXPECT_THAT(kept(R"("body":"{\"n\": 12345678901234567890.10}")").body,
              HasSubstr(R"("body":{"n": 12345678901234567890.10})"));
  EXPECT_EQ(kept(R"("body_base64":"//8A")").json().at("result").at("body_base64"), "//8A");
  EXPECT_EQ(kept(R"("result":{"a":[true,null]})").json().at("result").at("body").at("a").at(0),
            true);
}

TEST_F(IdempotencyTest, answers_may_be_larger_than_other_bodies_up_to_their_own_limit) {
  start();
  const auto owner = begun();
  const auto of = [](std::size_t bytes) { return R"("body":")" + std::string(bytes, 'x') + '"'; };
  const auto too_long = say("complete", with_owner(owner, of(max_answer_bytes + 1)));
  EXPECT_EQ(too_long.status, 400);
  EXPECT_THAT(too_long.text("detail"), StartsWith("result: must be at most 262144 bytes long"));
  EXPECT_EQ(look().text("state"), "in_progress") << "nothing was kept";
  EXPECT_EQ(say("complete", with_owner(owner, of(max_complete_body_bytes))).status, 413);
  EXPECT_EQ(begin(R"({"fingerprint":")" + std::string(70'000, 'x') + "\"}").status, 413)
      << "other calls have the limit of all";
  EXPECT_EQ(in_one_chunk("begin", with_owner(owner, of(70'000))), 413);
  const std::string name(max_answer_header_bytes, 'h');
  const auto headers = say("complete", with_owner(owner, R"("headers":{")" + name + R"(":"v"})"));
  EXPECT_EQ(headers.status, 400);
  EXPECT_THAT(headers.text("detail"), StartsWith("headers: must be at most 16384 bytes long"));
  ASSERT_EQ(in_one_chunk("complete", with_owner(owner, of(max_answer_bytes))), 200);
  EXPECT_EQ(begin().json().at("result").at("body").as_string().size(), max_answer_bytes);
}

TEST_F(IdempotencyTest, a_request_is_its_fingerprint_however_its_keys_are_ordered) {
  start();
  const auto owner = begun(
      R"({"request":{"method":"POST","path":"/pay","body":{"a":1,"b":[2]},"query":{"q":"1"}}})");
  const auto same = begin(
      R"({"request":{"path":"/pay","method":"POST","query":{"q":"1"},"body":{"b":[2],"a":1.0}}})");
  EXPECT_EQ(same.code(), "in_progress") << same.body;
  const auto other = begin(
      R"({"request":{"method":"POST","path":"/pay","body":{"a":2,"b":[2]},"query":{"q":"1"}}})");
  EXPECT_EQ(other.status, 422) << other.body;
  EXPECT_EQ(say("abandon", with_owner(owner)).status, 200);
}

TEST_F(IdempotencyTest, a_caller_that_leaves_while_it_waits_begins_nothing) {
  start();
  const auto owner = begun();
  {
    HttpConnection waiter(address);
    waiter.send(test::request_text(
        {.method = "POST", .path = "/v1/idempotency/pay-7/begin", .body = R"({"wait":"1h"})"},
        address));
    ASSERT_TRUE(test::eventually([&] { return get("/v1/stats").number("waiters") == 1; }));
  }
  ASSERT_TRUE(test::eventually([&] { return get("/v1/stats").number("waiters") == 0; }));
  ASSERT_EQ(say("fail", with_owner(owner, R"("error":"x","keep_failure":"0s")")).status, 200);
  EXPECT_EQ(look().status, 404);
}

TEST_F(IdempotencyTest, every_outcome_is_a_metric_and_runs_have_their_time) {
  start();
  const auto owner = begun(R"({"fingerprint":"a"})");
  begin(R"({"fingerprint":"a"})");
  begin(R"({"fingerprint":"b"})");
  say("abandon", with_owner(owner));
  begin(R"({"take_over":"refuse"})");
  const auto second = begin().text("owner");
  say("complete", with_owner(second));
  begin();
  const auto third = begun("{}", "pay-8");
  say("fail", with_owner(third, R"("error":"x")"), "pay-8");
  begin("{}", "pay-8");
  const auto metrics = get("/metrics").body;
  const auto expect = [&](const std::string& outcome, int count) {
    EXPECT_THAT(metrics,
                HasSubstr(fmt::format("holdfast_idempotency_requests_total{{outcome=\"{}\"}} {}\n",
                                      outcome, count)));
  };
  expect("new", 2);
  expect("in_progress", 1);
  expect("mismatch", 1);
  expect("unknown", 1);
  expect("takeover", 1);
  expect("replay", 1);
  expect("failed", 1);
  EXPECT_THAT(metrics, HasSubstr("holdfast_idempotency_run_seconds_count 3\n"));
  EXPECT_THAT(get("/v1/audit").body, HasSubstr(R"("what":"run_taken_over","name":"pay-7")"));
}

class IdempotencyTokens : public IdempotencyTest {
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
  int ask(const std::string& who, const std::string& method, const std::string& path,
          const std::string& body = {}) {
    return call({.method = method,
                 .path = "/v1/idempotency/" + path,
                 .body = body,
                 .headers = {{"Authorization", "Bearer " + who + "-token"}}})
        .status;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(IdempotencyTokens, whoever_may_lock_may_run_and_only_an_admin_may_forget) {
  EXPECT_EQ(ask("reader", "POST", "a/begin"), 403);
  EXPECT_EQ(ask("locker", "POST", "a/begin", R"({"owner":"me"})"), 200);
  EXPECT_EQ(ask("reader", "GET", "a"), 200);
  EXPECT_EQ(ask("reader", "POST", "a/complete", R"({"owner":"me"})"), 403);
  EXPECT_EQ(ask("locker", "DELETE", "a", R"({"reason":"x"})"), 403);
  EXPECT_EQ(ask("locker", "POST", "a/complete", R"({"owner":"me"})"), 200);
  EXPECT_EQ(ask("nobody", "GET", "a"), 401);
}

TEST_F(IdempotencyTokens, a_prefix_covers_its_keys_and_the_servers_own_are_nobodys) {
  EXPECT_EQ(ask("scoped", "POST", "orders:7/begin"), 200);
  EXPECT_EQ(ask("scoped", "POST", "invoices/begin"), 403);
  EXPECT_EQ(ask("scoped", "POST", "invoices/complete", R"({"owner":"me"})"), 403);
  EXPECT_EQ(ask("scoped", "GET", "invoices"), 403);
  EXPECT_EQ(ask("locker", "POST", "holdfast-server:abc/begin"), 403);
  EXPECT_EQ(ask("locker", "GET", "holdfast-server:abc"), 403);
}

}  // namespace
}  // namespace holdfast::server
