// SPDX-License-Identifier: Apache-2.0
//
// Locks shared with NestJS RedisX, with the two scripts it has for them. What every program of this
// sort has in common is in both_ways_test.cpp.
#include "interop_fixture.hpp"

namespace holdfast::test {
namespace {

class RedisxLock : public InteropTest {
 protected:
  RedisxLock() : InteropTest(peer_named("redisx")) {}

  bool their_extend(const std::string& token, milliseconds ttl) {
    return raw.integer({"EVAL",
                        "if redis.call('GET', KEYS[1]) == ARGV[1] then "
                        "return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0",
                        "1", stranger.key(), token, std::to_string(ttl.count())}) == 1;
  }
};

TEST_F(RedisxLock, the_key_is_where_they_look_for_it) {
  EXPECT_EQ(stranger.key(), "_lock:orders");
  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(raw.integer({"EXISTS", "_lock:orders"}), 1);
  EXPECT_EQ(raw.text({"GET", "_lock:orders"}), lease->owner().str());
}

TEST_F(RedisxLock, what_they_extend_stays_theirs_for_us) {
  ASSERT_TRUE(stranger.take("theirs", 20s));
  EXPECT_FALSE(their_extend("not theirs", 60s));
  EXPECT_TRUE(their_extend("theirs", 60s));
  EXPECT_EQ(code_of(lock().acquire()), "busy");
  EXPECT_GT(client.inspect("orders").value().holders.at(0).remaining, 55s);
  EXPECT_TRUE(their_extend("theirs", 50ms)) << "they may make it shorter";
  EXPECT_TRUE(is_ok(lock().acquire({.wait = 20s})));
}

TEST_F(RedisxLock, without_our_token_their_scripts_do_nothing_to_ours) {
  auto lease = lock().acquire({.ttl = 20s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_FALSE(their_extend("theirs", 1ms));
  EXPECT_FALSE(stranger.release("theirs"));
  EXPECT_FALSE(stranger.take("theirs", 60s));
  EXPECT_GT(stranger.ttl(), 15s);
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_FALSE(stranger.holder());
}

TEST_F(RedisxLock, what_we_extend_is_longer_for_them_too) {
  auto lease = lock().acquire({.ttl = 20s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_LE(stranger.ttl(), 20s);
  ASSERT_TRUE(is_ok(lease->extend(60s)));
  EXPECT_GT(stranger.ttl(), 55s);
  EXPECT_FALSE(stranger.take("theirs", 60s));
}

TEST_F(RedisxLock, with_our_token_their_scripts_do_to_ours_what_they_do_to_theirs) {
  auto lease = lock().acquire({.ttl = 20s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto token = lease->owner().str();
  EXPECT_TRUE(their_extend(token, 90s));
  EXPECT_TRUE(stranger.release(token));
  EXPECT_FALSE(stranger.holder());
  EXPECT_TRUE(stranger.take("theirs", 60s));
  EXPECT_NE(lease->release(), Released::released) << "it is theirs by now";
  EXPECT_EQ(stranger.holder(), "theirs");
}

}  // namespace
}  // namespace holdfast::test
