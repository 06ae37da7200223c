// SPDX-License-Identifier: Apache-2.0
//
// A server whose store is a quorum of real ones.
#include <holdfast/client.hpp>

#include "server_fixture.hpp"
#include "support/redis_server.hpp"
#include "support/timing.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class RedlockStoreTest : public ServerTest {
 protected:
  void start_on_members() {
    std::string url = "redlock://";
    for (const auto& each : members) {
      url += fmt::format("{}127.0.0.1:{}", url.ends_with('/') ? "" : ",", each.port());
    }
    start(url + "?retry_delay=20ms&retry_jitter=10ms&retries=1&grace=0s");
  }
  HttpAnswer acquire(const std::string& body = R"({"ttl":"10m"})") {
    return post("/v1/locks/x/acquire", body);
  }

  std::array<test::RedisServer, 3> members;
};

TEST_F(RedlockStoreTest, shows_a_row_for_each_member) {
  start_on_members();
  const auto lease = acquire();
  ASSERT_EQ(lease.status, 200) << lease.body;
  members[1].kill();
  HttpAnswer lock;
  // On a busy machine a member may be too slow for once.
  ASSERT_TRUE(test::eventually([&] {
    lock = get("/v1/locks/x");
    return lock.status == 200 && !lock.body.contains("too_slow");
  })) << lock.body;
  const auto body = lock.json().as_object();
  EXPECT_EQ(body.at("holders").as_array().size(), 1U);
  const auto& rows = body.at("members").as_array();
  ASSERT_EQ(rows.size(), 3U);
  for (const std::size_t at : {0U, 1U, 2U}) {
    EXPECT_EQ(rows[at].at("address").as_string(), fmt::format("127.0.0.1:{}", members[at].port()));
    EXPECT_EQ(rows[at].at("state"), at == 1 ? "unreachable" : "held");
    EXPECT_EQ(rows[at].at("counts"), at != 1);
  }
  EXPECT_EQ(rows[0].at("fence").to_number<std::int64_t>(), lease.number("fence"));
  EXPECT_FALSE(rows[1].at("reason").as_string().empty());
}

TEST_F(RedlockStoreTest, a_client_of_the_server_sees_the_members_too) {
  start_on_members();
  const auto client = open("http://" + address);
  ASSERT_TRUE(client) << client.error().message;
  const auto lease = client->mutex("x").acquire();
  ASSERT_TRUE(lease) << lease.error().message;
  // A member that was slower than the others may not know the fence at once.
  EXPECT_TRUE(test::eventually([&] {
    const auto lock = client->inspect("x");
    return lock && lock->members.size() == 3 &&
           std::ranges::all_of(lock->members, [&](const MemberView& member) {
             return member.state == MemberView::State::held && member.fence == lease->fence();
           });
  }));
}

TEST_F(RedlockStoreTest, busy_says_on_how_many_members_it_is_held) {
  start_on_members();
  ASSERT_EQ(acquire().status, 200);
  const auto answer = acquire();
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.code(), "busy");
  EXPECT_NE(answer.text("detail").find("of 3 members for "), std::string::npos) << answer.body;
}

TEST_F(RedlockStoreTest, without_a_majority_it_answers_503_with_what_each_member_said) {
  start_on_members();
  members[0].kill();
  members[2].kill();
  HttpAnswer answer;
  EXPECT_TRUE(test::eventually([&] {
    answer = acquire();
    return !answer.body.contains("too slow");
  }));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.code(), "quorum_not_reached");
  const auto detail = answer.text("detail");
  EXPECT_NE(detail.find(" of 3 members granted it, 2 are needed: "), std::string::npos) << detail;
  for (const std::size_t at : {0U, 2U}) {
    const auto verdict = fmt::format("127.0.0.1:{} unreachable", members[at].port());
    EXPECT_NE(detail.find(verdict), std::string::npos) << detail;
  }
  EXPECT_EQ(get("/v1/locks/x").code(), "quorum_not_reached");
}

TEST_F(RedlockStoreTest, refuses_a_semaphore) {
  start_on_members();
  const auto answer = acquire(R"({"kind":"semaphore","capacity":2})");
  EXPECT_EQ(answer.code(), "unsupported") << answer.body;
}

}  // namespace
}  // namespace holdfast::server
