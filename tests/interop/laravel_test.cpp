// SPDX-License-Identifier: Apache-2.0
//
// Laravel's Cache::lock, from both sides, and which of its locks have the texts of a Forrst server.
#include "backends/redis/dialect.hpp"
#include "interop_fixture.hpp"
#include "php.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LaravelLock : public InteropTest {
 protected:
  LaravelLock() : InteropTest(peer_named("laravel")) {}

  CacheLock cache_lock(const std::string& owner) { return {raw, key, owner}; }
  // restoreLock with our owner.
  CacheLock restored(const Lease& lease) { return cache_lock(lease.owner().str()); }

  static inline const std::string prefix = "app-database-app-cache-";
  const std::string key = prefix + "orders";
};

TEST_F(LaravelLock, what_we_hold_they_neither_get_nor_release) {
  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_FALSE(cache_lock("theirs").get(60s));
  EXPECT_FALSE(cache_lock("theirs").release());
  EXPECT_FALSE(cache_lock("theirs").refresh(600s));
  EXPECT_FALSE(cache_lock("theirs").block(60s, 300ms));
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_TRUE(cache_lock("theirs").get(60s));
}

TEST_F(LaravelLock, whoever_of_theirs_blocks_gets_it_after_our_release) {
  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  auto blocked = std::async(std::launch::async, [this] {
    RawRedis own(shared_server());
    return CacheLock(own, key, "theirs").block(60s, 20s);
  });
  const auto before = calls_of("set");
  ASSERT_TRUE(eventually([&] { return calls_of("set") > before; })) << "it asks again and again";
  EXPECT_EQ(blocked.wait_for(0s), std::future_status::timeout);
  ASSERT_TRUE(lease->release());
  EXPECT_TRUE(blocked.get());
  EXPECT_EQ(stranger.holder(), "theirs");
  EXPECT_EQ(code_of(lock().acquire()), "busy");
}

TEST_F(LaravelLock, a_lock_restored_with_our_owner_ends_our_lease) {
  auto lease = lock().acquire({.renew = false});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(restored(*lease).release());
  EXPECT_FALSE(restored(*lease).release());
  EXPECT_EQ(code_of(lease->extend(30s)), "lost");
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(LaravelLock, a_lock_restored_with_our_owner_makes_our_lease_longer_or_shorter) {
  auto lease = lock().acquire({.ttl = 30s, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  ASSERT_TRUE(restored(*lease).refresh(600s));
  EXPECT_GT(client.inspect("orders")->holders.at(0).remaining, 500s);
  ASSERT_TRUE(restored(*lease).refresh(5s));
  EXPECT_LE(client.inspect("orders")->holders.at(0).remaining, 5s);
  EXPECT_EQ(client.inspect("orders")->holders.at(0).fence, lease->fence());
}

TEST_F(LaravelLock, their_forced_release_ends_our_lease) {
  auto lease = lock().acquire({.ttl = 60s, .renew_every = 50ms});
  ASSERT_TRUE(is_ok(lease));
  cache_lock("anybody").force_release();
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
}

TEST_F(LaravelLock, what_they_hold_we_wait_for_and_may_end_with_their_owner) {
  ASSERT_TRUE(cache_lock("theirs").get(60s));
  EXPECT_EQ(code_of(lock().acquire()), "busy");
  auto turn = start_waiting();
  ASSERT_TRUE(cache_lock("theirs").release());
  auto [lease, at] = turn.get();
  ASSERT_TRUE(is_ok(lease));
  ASSERT_TRUE(lease->release());

  ASSERT_TRUE(cache_lock("theirs").get(60s));
  auto adopted = client.adopt("orders", "theirs");
  ASSERT_TRUE(is_ok(adopted));
  ASSERT_TRUE(is_ok(adopted->extend(600s)));
  EXPECT_GT(stranger.ttl(), 590s);
  EXPECT_EQ(adopted->release(), Released::released);
  EXPECT_FALSE(cache_lock("theirs").release());
}

TEST_F(LaravelLock, their_refresh_is_seen_and_their_lock_for_ever_is_busy) {
  ASSERT_TRUE(cache_lock("theirs").get(30s));
  EXPECT_EQ(code_of(lock().acquire()), "busy");
  ASSERT_TRUE(cache_lock("theirs").refresh(600s));
  EXPECT_GT(client.inspect("orders")->holders.at(0).remaining, 500s);
  EXPECT_EQ(client.force_release("orders", "test"), 1U);
  ASSERT_TRUE(cache_lock("eternal").get(0s));
  EXPECT_EQ(code_of(lock().acquire()), "busy");
  EXPECT_TRUE(cache_lock("eternal").release());
}

TEST_F(LaravelLock, only_names_of_a_forrst_server_have_texts) {
  for (const auto* options : {"", "&audit=3"}) {
    const auto opened = open_client(peer.options + options);
    for (const std::string name : {"orders", "clock:x", "locks", "my:lock:x", "forrst_lock"}) {
      ForrstServer php(raw, prefix + name);
      auto lease = opened.mutex(name).acquire();
      ASSERT_TRUE(is_ok(lease)) << name;
      EXPECT_FALSE(php.status().locked) << name;
      EXPECT_EQ(raw.text({"GET", prefix + name}), lease->owner().str()) << name;
      EXPECT_EQ(lease->release(), Released::released) << name;
    }
    for (const std::string name : {"lock:orders", "forrst_lock:pay.charge:user:1"}) {
      ForrstServer php(raw, prefix + name);
      auto lease = opened.mutex(name).acquire();
      ASSERT_TRUE(is_ok(lease)) << name;
      EXPECT_EQ(php.status().owner, lease->owner().str()) << name;
      EXPECT_EQ(lease->release(), Released::released) << name;
      EXPECT_FALSE(php.status().locked) << name;
    }
  }
}

TEST_F(LaravelLock, the_profile_of_forrst_with_this_prefix_is_the_same_lock) {
  auto forrst = open_client("?profile=forrst&prefix=" + prefix + "forrst_lock:");
  auto lease = forrst.mutex("orders").acquire({.renew = false});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(code_of(client.mutex("forrst_lock:orders").acquire()), "busy");
  ForrstServer php(raw, prefix + "forrst_lock:orders");
  EXPECT_EQ(php.status().owner, lease->owner().str());
  auto adopted = client.adopt("forrst_lock:orders", lease->owner().str());
  ASSERT_TRUE(is_ok(adopted));
  EXPECT_EQ(adopted->release(), Released::released);
  EXPECT_FALSE(php.status().locked);
}

// Cache::lock knows nothing of texts, so its release leaves them there.
TEST_F(LaravelLock, texts_that_their_plain_release_left_are_cleared_away_when_we_come_by) {
  ForrstServer php(raw, prefix + "lock:orders");
  auto lease = client.mutex("lock:orders").acquire({.renew = false});
  ASSERT_TRUE(is_ok(lease));
  ASSERT_TRUE(CacheLock(raw, prefix + "lock:orders", lease->owner().str()).release());
  EXPECT_TRUE(php.status().locked);
  EXPECT_TRUE(client.inspect("lock:orders")->holders.empty());
  EXPECT_EQ(code_of(lease->extend(30s)), "lost");
  EXPECT_FALSE(php.status().locked);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_F(LaravelLock, names_that_may_be_texts_are_refused_and_not_listed) {
  auto lease = client.mutex("lock:orders").acquire();
  ASSERT_TRUE(is_ok(lease));
  const auto refused = client.mutex("lock:orders:meta:owner").acquire();
  ASSERT_EQ(code_of(refused), "bad_input");
  EXPECT_THAT(refused.error().message, HasSubstr("':meta:' in the profile laravel"));
  const auto page = client.list({});
  ASSERT_TRUE(is_ok(page));
  ASSERT_EQ(page->locks.size(), 1U);
  EXPECT_EQ(page->locks.front().name, "lock:orders");
}

// A text may be there without a lock, and is written without a change of the lock.
TEST(LaravelKeys, only_a_change_of_the_lock_itself_wakes_who_waits) {
  using backends::redis::Dialect;
  const auto dialect = Dialect::make("", "laravel", "shop-*").value();
  const auto described = LockName::make("lock:a").value();
  const auto ordinary = LockName::make("a").value();
  EXPECT_THAT(dialect.shared_keys(described),
              ElementsAre("shop-lock:a", "shop-lock:a:meta:owner", "shop-lock:a:meta:acquired_at",
                          "shop-lock:a:meta:expires_at"));
  EXPECT_THAT(dialect.tracked_keys(described), ElementsAre("shop-lock:a"));
  EXPECT_THAT(dialect.shared_keys(ordinary), ElementsAre("shop-a"));
  EXPECT_THAT(dialect.tracked_keys(ordinary), ElementsAre("shop-a"));
}

}  // namespace
}  // namespace holdfast::test
