// SPDX-License-Identifier: Apache-2.0
//
// The Valkey guide's API over a real socket: the pattern that needs several stores.
#include <holdfast/client.hpp>

#include "gated_upstream.hpp"
#include "server_fixture.hpp"

#include <boost/json/object.hpp>

#include <future>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view nobody = "redis://127.0.0.1:1";

class RedlockTest : public ServerTest {
 protected:
  // Members in this process, and `gone` more that cannot be reached.
  void start_with(int there, int gone) {
    static std::atomic<int> count{0};
    const int unique = ++count;
    std::string stores;
    for (int at = 0; at < there; ++at) {
      urls.push_back(fmt::format("memory:redlock-test-{}-{}", unique, at));
      members.push_back(*open_core(urls.back()));
      stores += (stores.empty() ? "" : ",") + urls.back();
    }
    for (int at = 0; at < gone; ++at) {
      stores += fmt::format(",{}?connect_timeout={}ms", nobody, 100 + at);
    }
    options.patterns.redlock_store = stores;
    options.patterns.upstreams["gate"] = gate.url();
    start();
  }
  HttpAnswer run(const std::string& body = R"({"durationMs":5})") {
    return post("/api/locks/redlock/r1", body);
  }
  std::size_t held_on() {
    std::size_t held = 0;
    for (const auto& each : members) {
      held += Client(each).inspect("lock:red:r1")->holders.size();
    }
    return held;
  }
  bool comes_to(std::size_t count) {
    return test::eventually([&] { return held_on() == count; });
  }
  // Until the gate is opened.
  std::future<HttpAnswer> hold(std::string_view more = "") {
    gate.shut();
    return post_later("/api/locks/redlock/r1", fmt::format(R"({{"upstream":"gate"{}}})", more));
  }

  void TearDown() override { gate.open(); }

  GatedUpstream gate;
  std::vector<std::string> urls;
  std::vector<std::shared_ptr<client::Core>> members;
};

std::int64_t wall_ms() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now())
      .time_since_epoch()
      .count();
}

TEST_F(RedlockTest, takes_all_members_and_tells_of_expiration_and_attempts) {
  start_with(5, 0);
  auto holder = hold();
  EXPECT_TRUE(comes_to(5));
  gate.open();
  EXPECT_EQ(holder.get().status, 200);
  EXPECT_EQ(held_on(), 0U);
  const auto began = wall_ms();
  const auto answer = run();
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto body = answer.json().as_object();
  EXPECT_EQ(body.at("metadata").at("attempts"), 1);
  const auto expires = body.at("metadata").at("expiration").as_int64();
  EXPECT_GT(expires, began + 20'000);
  EXPECT_LE(expires, wall_ms() + 25'000);
  EXPECT_GT(answer.number("fence"), 0);
  EXPECT_EQ(held_on(), 0U);
}

TEST_F(RedlockTest, the_second_of_two_callers_gets_409_with_what_is_really_left) {
  start_with(5, 0);
  auto running = hold(R"(,"ttlMs":60000)");
  ASSERT_TRUE(comes_to(5));
  const auto answer = run();
  EXPECT_EQ(answer.status, 409) << answer.body;
  EXPECT_EQ(answer.text("error"), "Resource locked");
  EXPECT_EQ(answer.text("message"), "Resource 'r1' is being processed by another request");
  EXPECT_LE(answer.number("retryAfterMs"), 60'000);
  EXPECT_GT(answer.number("retryAfterMs"), 30'000);
  EXPECT_TRUE(answer.headers.contains("retry-after"));
  gate.open();
  EXPECT_EQ(running.get().status, 200);
  EXPECT_EQ(held_on(), 0U);
}

TEST_F(RedlockTest, a_lock_that_comes_free_meanwhile_is_had_by_a_later_attempt) {
  start_with(3, 0);
  // The lock may come free before the first of its four attempts, or after the last.
  for (int round = 0; round < 100; ++round) {
    auto running = hold();
    ASSERT_TRUE(comes_to(3));
    auto second = post_later("/api/locks/redlock/r1", R"({"durationMs":5})");
    gate.open();
    EXPECT_EQ(running.get().status, 200);
    const auto answer = second.get();
    ASSERT_TRUE(answer.status == 200 || answer.status == 409) << answer.body;
    if (answer.status != 200) continue;
    if (answer.json().at("metadata").at("attempts").as_int64() > 1) return;
  }
  FAIL() << "no later attempt got it";
}

TEST_F(RedlockTest, two_of_five_members_may_be_gone) {
  start_with(3, 2);
  const auto answer = run();
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(held_on(), 0U);
}

TEST_F(RedlockTest, three_of_five_members_gone_answer_503_and_leave_nothing_behind) {
  start_with(2, 3);
  const auto answer = run();
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_EQ(answer.text("error"), "Quorum not reached");
  EXPECT_EQ(answer.text("message"), "Unable to acquire lock on majority of instances");
  EXPECT_EQ(answer.code(), "quorum_not_reached");
  EXPECT_EQ(held_on(), 0U);
}

TEST_F(RedlockTest, a_refusal_says_what_each_member_said) {
  start_with(2, 3);
  const auto detail = run().text("detail");
  EXPECT_NE(detail.find("2 of 5 members granted it, 3 are needed"), std::string::npos) << detail;
  EXPECT_NE(detail.find("127.0.0.1:1 unreachable"), std::string::npos) << detail;
}

TEST_F(RedlockTest, a_minority_held_by_others_is_no_obstacle) {
  start_with(5, 0);
  auto first = Client(members[0]).mutex("lock:red:r1", Order::barging).acquire();
  auto second = Client(members[1]).mutex("lock:red:r1", Order::barging).acquire();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(run().status, 200);
  EXPECT_EQ(held_on(), 2U);
}

TEST_F(RedlockTest, a_split_vote_is_given_back) {
  start_with(4, 0);
  auto first = Client(members[0]).mutex("lock:red:r1", Order::barging).acquire({.ttl = 30s});
  auto second = Client(members[1]).mutex("lock:red:r1", Order::barging).acquire({.ttl = 60s});
  ASSERT_TRUE(first && second);
  const auto answer = run();
  EXPECT_EQ(answer.status, 409) << answer.body;
  // Two of four were free, and one more is enough.
  EXPECT_LE(answer.number("retryAfterMs"), 30'000);
  EXPECT_EQ(held_on(), 2U);
}

TEST_F(RedlockTest, an_operation_longer_than_the_lease_is_no_success) {
  start_with(3, 0);
  const auto began = std::chrono::steady_clock::now();
  const auto answer =
      run(fmt::format(R"({{"durationMs":60000,"ttlMs":{}}})", test::stretched(300ms) / 1ms));
  EXPECT_LT(std::chrono::steady_clock::now() - began, test::at_most(5s));
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.text("error"), "Operation failed during execution");
  EXPECT_EQ(answer.text("message"), "Failed to complete operation");
}

TEST_F(RedlockTest, a_majority_that_was_taken_away_is_no_success_and_a_minority_is) {
  start_with(5, 0);
  for (const std::size_t forced : {2U, 3U}) {
    auto running = hold();
    ASSERT_TRUE(comes_to(5));
    for (std::size_t at = 0; at < forced; ++at) {
      ASSERT_TRUE(Client(members[at]).force_release("lock:red:r1", "test"));
    }
    gate.open();
    EXPECT_EQ(running.get().status, forced == 2 ? 200 : 500);
  }
}

TEST_F(RedlockTest, a_client_that_leaves_frees_all_members_at_once) {
  start_with(5, 0);
  HttpConnection connection(address);
  connection.send(test::request_text(
      {.method = "POST", .path = "/api/locks/redlock/r1", .body = R"({"durationMs":20000})"},
      address));
  ASSERT_TRUE(comes_to(5));
  connection.close();
  EXPECT_TRUE(comes_to(0));
}

TEST_F(RedlockTest, a_server_does_not_start_with_too_few_members_or_a_bad_one) {
  for (const std::string stores :
       {"memory:a,memory:b", "memory:a,memory:b,memory:c?x=y", "redlock://a,b",
        "redlock://a,b,c?drift=2", "memory:a,memory:b,http://127.0.0.1:1"}) {
    options.patterns.redlock_store = stores;
    options.listen = {"127.0.0.1:0"};
    const auto started = Server::start(options, *open_core("memory:redlock-start"));
    ASSERT_FALSE(started) << stores;
    EXPECT_EQ(started.error().code, Errc::bad_input);
    EXPECT_NE(started.error().message.find("patterns.redlock.store"), std::string::npos);
  }
}

TEST_F(RedlockTest, twenty_callers_never_overlap) {
  start_with(5, 0);
  std::vector<std::future<HttpAnswer>> all;
  for (int each = 0; each < 20; ++each) {
    all.push_back(post_later("/api/locks/redlock/r1", R"({"durationMs":10})"));
  }
  int won = 0;
  for (auto& each : all) {
    const auto answer = each.get();
    EXPECT_TRUE(answer.status == 200 || answer.status == 409) << answer.body;
    won += answer.status == 200 ? 1 : 0;
  }
  EXPECT_GE(won, 1);
  EXPECT_EQ(held_on(), 0U);
}

}  // namespace
}  // namespace holdfast::server
