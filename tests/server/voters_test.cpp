// SPDX-License-Identifier: Apache-2.0
#include "server/endpoints/patterns/voters.hpp"

#include <holdfast/client.hpp>

#include "support/redis_server.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::server::patterns {
namespace {

using namespace std::chrono_literals;

TEST(Voters, are_urls_or_the_hosts_of_one_url_with_commas_between_them) {
  using Urls = std::vector<std::string>;
  EXPECT_EQ(split_members("redis://a:1, redis://b:2,memory:x"),
            (Urls{"redis://a:1", "redis://b:2", "memory:x"}));
  EXPECT_EQ(split_members("rediss://me:p%2Cw@a:1,b,[::1]:3/2?ca=x,y"),
            (Urls{"rediss://me:p%2Cw@a:1/2?ca=x,y", "rediss://me:p%2Cw@b/2?ca=x,y",
                  "rediss://me:p%2Cw@[::1]:3/2?ca=x,y"}));
  EXPECT_EQ(split_members("memory:one"), Urls{"memory:one"});
  EXPECT_EQ(split_members("redis://a"), Urls{"redis://a"});
}

TEST(Voters, are_at_least_three_different_ones) {
  for (const auto* few :
       {"memory:a", "memory:a,memory:b", "redis://127.0.0.1:1", "redlock://127.0.0.1:1,b"}) {
    const auto opened = open_voters(few);
    ASSERT_FALSE(opened) << few;
    EXPECT_NE(opened.error().message.find("RedLock requires at least 3 Redis instances. "
                                          "Recommended: 5 instances for optimal fault tolerance."),
              std::string::npos);
  }
  EXPECT_EQ(open_voters("memory:a,memory:b,memory:a").error().code, Errc::bad_input);
  EXPECT_EQ(open_voters("memory:a,memory:b,file:/x?durable=maybe").error().code, Errc::bad_input);
}

TEST(Voters, vote_although_some_cannot_be_reached) {
  const auto opened = open_voters("memory:v-a,redis://127.0.0.1:1,memory:v-b");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->count, 3U);
  EXPECT_FALSE(opened->is_demo);
  EXPECT_TRUE(Client(opened->core).mutex("x").acquire());
}

TEST(Voters, are_opened_even_if_none_can_be_reached) {
  const auto opened = open_voters("redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3?retries=0");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->count, 3U);
  const auto lease = Client(opened->core).mutex("x").acquire();
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Errc::quorum_not_reached) << lease.error().message;
}

TEST(Voters, that_come_later_count_from_then_on) {
  test::RedisServer late({"--appendonly", "yes"});
  late.kill();
  const auto opened = open_voters("memory:l-a,redis://127.0.0.1:1," + late.url());
  ASSERT_TRUE(opened) << opened.error().message;
  Client client(opened->core);
  ASSERT_FALSE(client.mutex("x").acquire());
  late.restart();
  // It forgets nothing, so that nothing has to be waited for but the connection.
  EXPECT_TRUE(client.mutex("x").acquire({.wait = 20s}));
}

TEST(Voters, are_five_in_memory_for_a_demonstration) {
  const auto opened = open_voters("");
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->is_demo);
  EXPECT_EQ(opened->count, 5U);
  const auto view = Client(opened->core).inspect("x");
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->members.size(), 5U);
}

TEST(Voters, of_two_demonstrations_are_not_the_same) {
  const auto one = open_voters("");
  const auto two = open_voters("");
  ASSERT_TRUE(one && two);
  const auto first = Client(one->core).mutex("x").acquire();
  EXPECT_TRUE(first);
  EXPECT_TRUE(Client(two->core).mutex("x").acquire());
}

}  // namespace
}  // namespace holdfast::server::patterns
