// SPDX-License-Identifier: Apache-2.0
//
// The server's Forrst locks on the Redis of a Laravel program: one lock for both.
#include "forrst_fixture.hpp"
#include "support/redis_server.hpp"

namespace holdfast::server {
namespace {

constexpr std::string_view laravel_key = "forrst_lock:payments.charge:user:1";
const std::string key = "shop-database-shop-cache-" + std::string(laravel_key);

class ForrstLaravel : public ForrstTest {
 protected:
  ForrstLaravel() {
    options.forrst.store = redis.url() + "?profile=laravel&prefix=shop-database-shop-cache-";
    options.forrst.prefix = "forrst_lock:";
    offer_command("payments.charge", {"cat"});
  }

  HttpAnswer charge(std::string_view more) {
    return invoke("payments.charge", {}, lock_extension("user:1", more));
  }

  test::RedisServer redis;
  test::RawRedis laravel{redis};
};

TEST_F(ForrstLaravel, a_lock_of_ours_is_one_of_laravels_with_its_texts) {
  start();
  ASSERT_EQ(charge(R"(,"owner":"me","auto_release":false)").status, 200);
  EXPECT_EQ(laravel.text({"GET", key}), "me");
  EXPECT_EQ(laravel.text({"GET", key + ":meta:owner"}), "s:2:\"me\";");
  EXPECT_GT(laravel.integer({"TTL", key}), 25);
  EXPECT_EQ(laravel.text({"SET", key, "php", "EX", "30", "NX"}), "");
  // As restoreLock($key, 'me')->release() does.
  EXPECT_EQ(laravel.integer({"EVAL",
                             "if redis.call('get',KEYS[1]) == ARGV[1] then return "
                             "redis.call('del',KEYS[1]) else return 0 end",
                             "1", key, "me"}),
            1);
  EXPECT_FALSE(is_locked(laravel_key));
}

TEST_F(ForrstLaravel, a_lock_of_laravels_keeps_us_out_and_is_seen) {
  start();
  ASSERT_EQ(laravel.text({"SET", key, "php", "EX", "30", "NX"}), "OK");
  EXPECT_EQ(charge("").status, 423);
  const auto status = invoke(lock_status, {{"key", laravel_key}}).json().at("result");
  EXPECT_EQ(status.at("locked"), true);
  EXPECT_EQ(status.at("owner"), "php");
  EXPECT_LE(status.at("ttl_remaining").as_int64(), 30);
  EXPECT_EQ(laravel.text({"GET", key}), "php");
  const auto released = invoke(lock_release, {{"key", laravel_key}, {"owner", "php"}});
  EXPECT_EQ(released.status, 200) << released.body;
  EXPECT_EQ(laravel.integer({"EXISTS", key}), 0);
}

TEST_F(ForrstLaravel, nothing_of_ours_stays_after_a_call) {
  start();
  ASSERT_EQ(charge("").status, 200);
  EXPECT_EQ(laravel.integer({"EXISTS", key, key + ":meta:owner", key + ":meta:acquired_at",
                             key + ":meta:expires_at"}),
            0);
}

}  // namespace
}  // namespace holdfast::server
