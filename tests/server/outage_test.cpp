// SPDX-License-Identifier: Apache-2.0
//
// A server whose store is away: no door says that the lock is held.
#include <holdfast/holdfast.hpp>

#include "forrst_fixture.hpp"
#include "support/redis_server.hpp"

#include <gmock/gmock.h>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class OutageHttp : public ForrstTest {
 protected:
  void SetUp() override {
    offer_command("work.do", {"/bin/true"});
    start(redis.url());
  }
  static void expect_unavailable(const HttpAnswer& answer) {
    EXPECT_EQ(answer.status, 503) << answer.body;
    EXPECT_EQ(answer.code(), "unavailable") << answer.body;
  }

  test::RedisServer redis;
};

TEST_F(OutageHttp, a_wait_is_503_and_not_408) {
  redis.kill();
  const auto answer = post("/v1/locks/a/acquire", R"({"wait":"800ms"})");
  expect_unavailable(answer);
  EXPECT_THAT(answer.body, HasSubstr("'a': tried for "));
  expect_unavailable(post("/v1/locks:acquire-all", R"({"names":["a","b"],"wait":"800ms"})"));
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("outcome=\"timed_out\"} 1")));
}

TEST_F(OutageHttp, a_wait_behind_another_says_so_when_the_store_goes_away) {
  ASSERT_EQ(post("/v1/locks/a/acquire", R"({"ttl":"1h"})").status, 200);
  auto waiting = post_later("/v1/locks/a/acquire",
                            fmt::format(R"({{"wait":"{}ms"}})", test::stretched(5s) / 1ms));
  ASSERT_TRUE(has_waiters("a"));
  redis.kill();
  const auto answer = waiting.get();
  expect_unavailable(answer);
  EXPECT_THAT(answer.body, HasSubstr("was waiting behind 0"));
}

TEST_F(OutageHttp, the_primitives_of_n8n_say_so) {
  redis.kill();
  const auto answer =
      post("/n8n/lock_acquisition",
           R"({"scope":"a","workflow_id":"w","workflow_name":"W","execution_id":"1",)"
           R"("wait_till_lock_released":true,"max_wait_seconds":1})");
  expect_unavailable(answer);
}

// As the guide has it: what went wrong with the store is a 500.
TEST_F(OutageHttp, the_patterns_say_so) {
  redis.kill();
  const auto answer = post("/api/locks/fair/r1", R"({"durationMs":5,"waitMs":800})");
  EXPECT_EQ(answer.status, 500) << answer.body;
  EXPECT_EQ(answer.code(), "unavailable") << answer.body;
  EXPECT_THAT(answer.body, Not(HasSubstr("Resource locked")));
}

TEST_F(OutageHttp, functions_under_locks_say_so) {
  redis.kill();
  const auto answer =
      invoke("work.do", {}, lock_extension("k", R"(,"block":{"value":1,"unit":"second"})"));
  EXPECT_EQ(first_code(answer.json()), "UNAVAILABLE") << answer.body;
}

TEST_F(OutageHttp, clients_of_the_server_say_so_and_diagnose_too) {
  const auto client = open("http://" + address);
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_TRUE(client->diagnose().has_value());
  redis.kill();
  const auto lease = client->mutex("a").acquire({.wait = 800ms});
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Errc::unavailable) << lease.error().message;
  const auto found = client->diagnose();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::unavailable) << found.error().message;
}

}  // namespace
}  // namespace holdfast::server
