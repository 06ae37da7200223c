// SPDX-License-Identifier: Apache-2.0
#include "server/sessions/sessions.hpp"

#include "server_fixture.hpp"

#include <boost/json/array.hpp>

#include <future>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class SessionTest : public ServerTest {
 protected:
  void SetUp() override { start(); }
  std::string begin(const std::string& body = "{}") {
    const auto answer = post("/v1/sessions", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.text("session");
  }
  HttpAnswer take(const std::string& name, const std::string& session,
                  const std::string& more = {}) {
    return post("/v1/locks/" + name + "/acquire", R"({"session":")" + session + "\"" + more + "}");
  }
  // It is renewed soon, and outlives a pause of the scheduler.
  static std::string short_ttl() { return fmt::format("{}ms", test::stretched(3s) / 1ms); }
  static std::string with(const std::string& session) {
    return R"({"session":")" + session + "\"}";
  }
};

TEST_F(SessionTest, its_leases_are_renewed_while_it_is_kept_alive) {
  const auto session = begin(R"({"ttl":"1m"})");
  ASSERT_EQ(take("a", session, R"(,"ttl":")" + short_ttl() + '"').status, 200);
  EXPECT_TRUE(is_renewed("a"));
  EXPECT_EQ(post("/v1/locks/a/acquire").status, 409);
  EXPECT_EQ(post("/v1/sessions:keep-alive", with(session)).status, 200);
}

TEST_F(SessionTest, a_sign_of_life_keeps_its_own_ttl_and_no_other) {
  for (const auto& [ttl, ms] : {std::pair("1m", 60'000), std::pair("2s", 2'000)}) {
    const auto session = begin(fmt::format(R"({{"ttl":"{}"}})", ttl));
    const auto kept = post("/v1/sessions:keep-alive", with(session));
    ASSERT_EQ(kept.status, 200) << kept.body;
    EXPECT_LE(kept.number("expires_in_ms"), ms);
    EXPECT_GT(kept.number("expires_in_ms"), ms - 1'000);
  }
  const auto session = begin();
  const auto longer =
      post("/v1/sessions:keep-alive", R"({"ttl":"5m","session":")" + session + "\"}");
  EXPECT_GT(longer.number("expires_in_ms"), 290'000);
}

TEST_F(SessionTest, a_secret_with_another_ttl_is_that_of_no_session) {
  const auto session = begin(R"({"ttl":"10s"})");
  const auto forged = session.substr(0, session.rfind('.')) + ".3600000";
  EXPECT_EQ(post("/v1/sessions:keep-alive", with(forged)).code(), "not_held");
}

TEST(SessionSecret, says_its_ttl_and_one_that_says_none_has_the_default) {
  EXPECT_EQ(ttl_in("4hMhB1rD0WJ0q5cU9yV2Zw.60000"), 60s);
  EXPECT_EQ(ttl_in("4hMhB1rD0WJ0q5cU9yV2Zw"), default_session_ttl) << "of an older server";
  for (const auto* odd : {"a.", "a.x", "a.1", "a.-5000", "a.60000x", "a.99999999999999999999"}) {
    EXPECT_EQ(ttl_in(odd), default_session_ttl) << odd;
  }
}

TEST_F(SessionTest, ending_it_releases_everything_together) {
  const auto session = begin();
  ASSERT_EQ(take("a", session).status, 200);
  ASSERT_EQ(take("b", session).status, 200);
  const auto ended = post("/v1/sessions:end", with(session));
  ASSERT_EQ(ended.status, 200) << ended.body;
  EXPECT_EQ(ended.number("released"), 2);
  EXPECT_EQ(post("/v1/locks/a/acquire", R"({"wait":"1m"})").status, 200);
  EXPECT_EQ(post("/v1/locks/b/acquire", R"({"wait":"1m"})").status, 200);
  EXPECT_EQ(post("/v1/sessions:end", with(session)).status, 404);
  EXPECT_EQ(post("/v1/sessions:keep-alive", with(session)).code(), "not_held");
}

TEST_F(SessionTest, one_that_is_not_kept_alive_loses_its_leases) {
  const auto session = begin(fmt::format(R"({{"ttl":"{}ms"}})", test::stretched(1s) / 1ms));
  ASSERT_EQ(take("a", session, R"(,"ttl":"1h")").status, 200);
  EXPECT_EQ(post("/v1/locks/a/acquire", R"({"wait":"10m"})").status, 200);
}

TEST_F(SessionTest, a_lease_that_its_client_released_is_not_renewed_any_more) {
  const auto session = begin();
  const auto lease = take("a", session);
  ASSERT_EQ(post("/v1/locks/a/release", R"({"owner":")" + lease.text("owner") + "\"}").status, 200);
  EXPECT_EQ(get("/v1/sessions").json().at("sessions").as_array().size(), 0U);
  EXPECT_EQ(post("/v1/locks/a/acquire").status, 200);
}

TEST_F(SessionTest, a_second_lease_on_the_same_name_is_renewed_after_the_first_was_released) {
  const auto session = begin();
  const auto permit =
      R"(,"kind":"semaphore","capacity":2,"ttl":")" + short_ttl() + R"(","request":)";
  const auto owner = take("a", session, permit + R"("one")").text("owner");
  ASSERT_EQ(take("a", session, permit + R"("two")").status, 200);
  const auto released =
      post("/v1/locks/a/release", R"({"owner":")" + owner + R"(","request":"one"})");
  ASSERT_EQ(released.status, 200) << released.body;
  EXPECT_TRUE(is_renewed("a")) << "the client kept its session alive, and lost its lease";
  EXPECT_EQ(counted("a", "holders"), 1U);
}

// The leases of a session share its owner.
TEST_F(SessionTest, a_late_release_of_the_first_lease_leaves_the_next_one_bound_and_renewed) {
  const auto session = begin();
  const auto first = take("a", session);
  const auto release = R"({"owner":")" + first.text("owner") + R"(","fence":)" +
                       std::to_string(first.number("fence")) + "}";
  ASSERT_EQ(post("/v1/locks/a/release", release).status, 200);
  ASSERT_EQ(take("a", session, R"(,"ttl":")" + short_ttl() + "\"").status, 200);
  EXPECT_EQ(post("/v1/locks/a/release", release).code(), "not_held");
  EXPECT_TRUE(is_renewed("a"));
  EXPECT_EQ(post("/v1/sessions:end", with(session)).number("released"), 1);
}

TEST_F(SessionTest, a_wait_that_outlives_its_session_is_not_answered_with_a_lease) {
  const auto holder = post("/v1/locks/a/acquire", R"({"ttl":"30s"})").text("owner");
  const auto session = begin(R"({"ttl":"30s"})");
  auto waiting = std::async(std::launch::async,
                            [&] { return take("a", session, R"(,"ttl":"30s","wait":"1m")"); });
  ASSERT_TRUE(has_waiters("a"));
  ASSERT_EQ(post("/v1/sessions:end", with(session)).status, 200);
  ASSERT_EQ(post("/v1/locks/a/release", R"({"owner":")" + holder + "\"}").status, 200);
  EXPECT_EQ(waiting.get().code(), "not_held");
  EXPECT_EQ(post("/v1/locks/a/acquire", R"({"wait":"1m"})").status, 200);
}

TEST_F(SessionTest, a_lease_that_is_asked_for_twice_is_bound_once) {
  const auto session = begin();
  ASSERT_EQ(take("a", session, R"(,"request":"one")").status, 200);
  ASSERT_EQ(take("a", session, R"(,"request":"one")").status, 200);
  EXPECT_EQ(post("/v1/sessions:end", with(session)).number("released"), 1);
}

TEST_F(SessionTest, another_server_on_the_same_store_can_keep_it_alive_and_end_it) {
  auto second = Server::start(options, core_);
  ASSERT_TRUE(second);
  const auto other = (*second)->addresses().front();
  const auto session = begin(fmt::format(R"({{"ttl":"{}ms"}})", test::stretched(2s) / 1ms));
  ASSERT_EQ(take("a", session).status, 200);
  const HttpCall keep{.method = "POST", .path = "/v1/sessions:keep-alive", .body = with(session)};
  EXPECT_EQ(call_at(other, keep).status, 200);
  const HttpCall end{.method = "POST", .path = "/v1/sessions:end", .body = with(session)};
  EXPECT_EQ(call_at(other, end).status, 200);
  EXPECT_EQ(post("/v1/locks/a/acquire", R"({"wait":"1m"})").status, 200);
}

TEST_F(SessionTest, all_locks_of_a_session_have_the_same_party_and_the_secret_is_nowhere) {
  const auto session = begin();
  take("a", session);
  take("b", session);
  const auto party = [&](const char* name) {
    return get(name).json().at("holders").as_array().at(0).at("party").as_string();
  };
  EXPECT_EQ(party("/v1/locks/a"), party("/v1/locks/b"));
  for (const auto* path : {"/v1/locks", "/v1/sessions", "/v1/audit", "/v1/stats"}) {
    EXPECT_EQ(get(path).body.find(session), std::string::npos) << path;
  }
}

TEST_F(SessionTest, an_unknown_session_cannot_take_anything) {
  EXPECT_EQ(take("a", "nonsense").status, 404);
  EXPECT_EQ(post("/v1/locks/a/acquire", R"({"session":"x","owner":"y"})").status, 400);
}

}  // namespace
}  // namespace holdfast::server
