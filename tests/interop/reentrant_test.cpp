// SPDX-License-Identifier: Apache-2.0
//
// Locks that one owner enters more than once, in Redisson's hash and in the guide's.
#include "interop_fixture.hpp"

namespace holdfast::test {
namespace {

class ReentrantLock : public InteropTest, public testing::WithParamInterface<Peer> {
 protected:
  ReentrantLock() : InteropTest(GetParam()) {}

  // -1 if nobody is in.
  long long depth() {
    const auto holder = stranger.holder();
    if (!holder) return -1;
    const bool by_owner = peer.name == "redisson";
    return std::stoll(raw.text({"HGET", stranger.key(), by_owner ? *holder : "count"}));
  }
  Result<Lease> enter(std::string_view owner, Duration ttl = 30s) const {
    return client.reentrant("orders").acquire({.ttl = ttl, .renew = false, .owner = owner});
  }
};

TEST_P(ReentrantLock, the_hash_counts_how_often_our_owner_entered) {
  auto first = enter("us");
  ASSERT_TRUE(is_ok(first));
  EXPECT_EQ(depth(), 1);
  auto second = enter("us");
  auto third = enter("us");
  ASSERT_TRUE(is_ok(third));
  EXPECT_EQ(third->fence(), first->fence());
  EXPECT_EQ(depth(), 3);
  EXPECT_EQ(second->release(), Released::released);
  EXPECT_EQ(depth(), 2);
  EXPECT_FALSE(stranger.take("theirs", 60s));
  ASSERT_TRUE(first->release());
  ASSERT_TRUE(third->release());
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_P(ReentrantLock, a_re_entry_that_ends_by_itself_is_counted_down) {
  auto longer = enter("us", 30s);
  ASSERT_TRUE(is_ok(enter("us", 30ms)));
  auto shorter = enter("us", 30ms);
  ASSERT_TRUE(is_ok(shorter));
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(is_ok(longer->extend(40s)));
    return depth() == 1;
  }));
  EXPECT_GT(stranger.ttl(), 31s);
}

TEST_P(ReentrantLock, the_ttl_is_that_of_the_longest_lease) {
  auto shorter = enter("us", 20s);
  auto longer = enter("us", 60s);
  EXPECT_GT(stranger.ttl(), 30s);
  ASSERT_TRUE(longer->release());
  EXPECT_LE(stranger.ttl(), 20s);
  EXPECT_GT(stranger.ttl(), 0s);
}

TEST_P(ReentrantLock, our_release_leaves_in_whoever_entered_with_our_owner) {
  auto lease = enter("us");
  ASSERT_TRUE(is_ok(lease));
  ASSERT_TRUE(stranger.take("us", 60s));
  ASSERT_TRUE(stranger.take("us", 60s));
  EXPECT_EQ(depth(), 3);
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_EQ(depth(), 2);
  EXPECT_GT(stranger.ttl(), 55s);
  EXPECT_EQ(code_of(enter("others")), "busy");
  ASSERT_TRUE(stranger.release("us"));
  ASSERT_TRUE(stranger.release("us"));
  EXPECT_TRUE(is_ok(enter("others")));
}

TEST_P(ReentrantLock, we_enter_what_our_owner_holds_elsewhere_with_a_fence_of_our_own) {
  ASSERT_TRUE(stranger.take("us", 60s));
  auto first = enter("us", 30s);
  auto second = enter("us", 30s);
  ASSERT_TRUE(is_ok(second));
  EXPECT_GT(first->fence(), 0U);
  EXPECT_EQ(first->fence(), second->fence());
  EXPECT_EQ(depth(), 3);
  EXPECT_GT(stranger.ttl(), 55s) << "their ttl is theirs";
  ASSERT_TRUE(stranger.release("us"));
  EXPECT_EQ(depth(), 2);
  ASSERT_TRUE(first->release());
  ASSERT_TRUE(second->release());
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_P(ReentrantLock, our_waiter_is_told_when_the_last_of_a_mixed_crowd_goes) {
  ASSERT_TRUE(stranger.take("us", 60s));
  auto lease = enter("us");
  ASSERT_TRUE(is_ok(lease));
  auto turn = start_waiting();
  ASSERT_TRUE(lease->release());
  const auto released = SteadyClock::now();
  ASSERT_TRUE(stranger.release("us"));
  const auto [next, at] = turn.get();
  ASSERT_TRUE(is_ok(next));
  EXPECT_GE(at, released) << "they were still in";
  EXPECT_LT(at - released, at_most(told_at_once));
}

TEST_P(ReentrantLock, their_release_of_one_of_our_entries_leaves_the_lock_ours) {
  auto first = enter("us");
  auto second = enter("us");
  ASSERT_TRUE(is_ok(second));
  ASSERT_TRUE(stranger.release("us"));
  ASSERT_TRUE(is_ok(first->extend(30s)));
  EXPECT_FALSE(stranger.take("theirs", 60s));
  ASSERT_TRUE(first->release());
  EXPECT_FALSE(stranger.take("theirs", 60s));
  ASSERT_TRUE(second->release());
  EXPECT_TRUE(stranger.take("theirs", 60s));
}

TEST_P(ReentrantLock, a_hash_that_is_something_else_is_a_spec_mismatch_and_left_alone) {
  raw.call({"HSET", stranger.key(), "colour", "blue", "size", "7"});
  EXPECT_EQ(code_of(enter("us")), "spec_mismatch");
  EXPECT_EQ(code_of(client.force_release("orders", "test")), "spec_mismatch");
  EXPECT_EQ(raw.integer({"HLEN", stranger.key()}), 2);
  EXPECT_EQ(raw.integer({"PTTL", stranger.key()}), -1);
  const auto listed = client.list();
  ASSERT_TRUE(is_ok(listed));
  EXPECT_TRUE(listed->locks.empty());
}

INSTANTIATE_TEST_SUITE_P(Peers, ReentrantLock,
                         testing::Values(peer_named("redisson"), peer_named("valkey_reentrant")),
                         by_peer);

class Redisson : public InteropTest {
 protected:
  Redisson() : InteropTest(peer_named("redisson")) {}

  // What a subscriber of theirs hears until then.
  static std::vector<std::string> heard(RawRedis& subscriber, RawRedis& speaker,
                                        const std::string& channel) {
    speaker.call({"PUBLISH", channel, "enough"});
    std::vector<std::string> words;
    while (true) {
      const auto reply = subscriber.receive();
      const std::string word(net::resp::text_of(*reply->element[2]));
      if (word == "enough") return words;
      words.push_back(word);
    }
  }
};

TEST_F(Redisson, their_waiters_are_told_when_our_lock_becomes_free_and_only_then) {
  const std::string channel = "redisson_lock__channel:{orders}";
  RawRedis subscriber(shared_server());
  subscriber.call({"SUBSCRIBE", channel});
  const AcquireOptions as_us{.owner = "us"};
  auto first = client.reentrant("orders").acquire(as_us);
  auto second = client.reentrant("orders").acquire(as_us);
  auto turn = start_waiting();
  ASSERT_TRUE(first->release());
  ASSERT_TRUE(second->release());
  auto [third, at] = turn.get();
  ASSERT_TRUE(is_ok(third));
  EXPECT_TRUE(heard(subscriber, raw, channel).empty()) << "handed over, and never free";
  ASSERT_TRUE(third->release());
  EXPECT_EQ(heard(subscriber, raw, channel), std::vector<std::string>{"0"});
}

TEST_F(Redisson, the_channel_of_a_name_with_braces_has_none_of_its_own) {
  const std::string channel = "redisson_lock__channel:{shop}:orders";
  RawRedis subscriber(shared_server());
  subscriber.call({"SUBSCRIBE", channel});
  auto lease = client.reentrant("{shop}:orders").acquire();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(raw.text({"TYPE", "{shop}:orders"}), "hash");
  ASSERT_TRUE(lease->release());
  EXPECT_EQ(heard(subscriber, raw, channel), std::vector<std::string>{"0"});
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

// Tries, subscribes, tries again, and sleeps until a message or the holder's ttl.
TEST_F(Redisson, a_waiter_of_theirs_has_the_lock_right_after_our_release) {
  auto lease = client.reentrant("orders").acquire();
  ASSERT_TRUE(is_ok(lease));
  ASSERT_FALSE(stranger.take("theirs", 60s));
  RawRedis subscriber(shared_server());
  subscriber.call({"SUBSCRIBE", "redisson_lock__channel:{orders}"});
  ASSERT_FALSE(stranger.take("theirs", 60s));
  ASSERT_TRUE(lease->release());
  EXPECT_EQ(net::resp::text_of(*subscriber.receive()->element[2]), "0");
  EXPECT_TRUE(stranger.take("theirs", 60s));
}

}  // namespace
}  // namespace holdfast::test
