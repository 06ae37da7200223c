// SPDX-License-Identifier: Apache-2.0
//
// A lock that we and another program share, from both sides, for every program we know.
#include "interop_fixture.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class BothWays : public InteropTest, public testing::WithParamInterface<Peer> {
 protected:
  BothWays() : InteropTest(GetParam()) {}
};

TEST_P(BothWays, what_they_hold_is_busy_for_as_long_as_their_ttl_says) {
  ASSERT_TRUE(stranger.take("their-secret", 60s));
  const auto tried = lock().acquire();
  ASSERT_EQ(code_of(tried), "busy");
  EXPECT_THAT(tried.error().message, Not(HasSubstr("their-secret")));
  const auto seen = client.inspect("orders");
  ASSERT_TRUE(is_ok(seen));
  ASSERT_EQ(seen->holders.size(), 1U);
  EXPECT_EQ(seen->kind, peer.kind);
  EXPECT_GT(seen->holders[0].remaining, 55s);
  EXPECT_LE(seen->holders[0].remaining, 60s + 1ms);
  EXPECT_EQ(stranger.holder(), "their-secret");
  EXPECT_GT(stranger.ttl(), 55s);
}

TEST_P(BothWays, our_waiter_is_told_at_once_when_they_release) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto turn = start_waiting();
  ASSERT_TRUE(is_waiting(turn));
  const auto released = SteadyClock::now();
  ASSERT_TRUE(stranger.release("theirs"));
  const auto [lease, at] = turn.get();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_LT(at - released, at_most(told_at_once));
  EXPECT_EQ(stranger.holder(), lease->owner().str());
}

TEST_P(BothWays, our_waiter_goes_on_waiting_when_they_renew_and_has_it_soon_after_they_expire) {
  while (true) {
    ASSERT_TRUE(stranger.take("theirs", 60s));
    stranger.set_ttl(300ms);
    auto turn = start_waiting();
    const auto renewed = SteadyClock::now();
    const bool is_in_time = stranger.set_ttl(500ms);
    auto [lease, at] = turn.get();
    ASSERT_TRUE(is_ok(lease));
    EXPECT_TRUE(lease->release());
    if (!is_in_time) continue;  // It had ended before.
    EXPECT_GE(at - renewed, 498ms);
    EXPECT_LT(at - renewed, at_most(500ms + told_at_once));
    break;
  }
}

TEST_P(BothWays, what_we_hold_they_cannot_take_until_we_release_and_nothing_of_ours_is_left) {
  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_FALSE(stranger.take("theirs", 60s));
  EXPECT_FALSE(stranger.take("theirs", 60s));
  EXPECT_FALSE(stranger.release("theirs"));
  EXPECT_EQ(stranger.holder(), lease->owner().str());
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
  EXPECT_TRUE(stranger.take("theirs", 60s));
}

TEST_P(BothWays, our_key_looks_as_if_it_were_theirs) {
  const auto began = SteadyClock::now();
  auto lease = lock().acquire({.ttl = 30'500ms, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(stranger.type(), peer.protocol->type());
  const auto holder = stranger.holder();
  ASSERT_TRUE(holder);
  EXPECT_THAT(*holder, testing::MatchesRegex(peer.token));
  EXPECT_EQ(*holder, lease->owner().str());
  const auto asked = std::chrono::ceil<std::chrono::milliseconds>(
      milliseconds((30'500 + peer.unit.count() - 1) / peer.unit.count() * peer.unit.count()));
  const auto left = stranger.ttl();
  EXPECT_LE(left, asked);
  EXPECT_GE(left, asked - (SteadyClock::now() - began) - 2ms);
}

TEST_P(BothWays, they_can_release_a_lease_of_ours_that_was_handed_over_to_them) {
  auto lease = lock().acquire({.ttl = 60s, .renew_every = 50ms});
  ASSERT_TRUE(is_ok(lease));
  ASSERT_TRUE(stranger.release(lease->owner().str()));
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
  EXPECT_TRUE(stranger.take("theirs", 60s));
  EXPECT_EQ(stranger.holder(), "theirs");
}

TEST_P(BothWays, we_can_release_a_lock_of_theirs_whose_token_we_are_given) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto adopted = client.adopt("orders", "theirs");
  ASSERT_TRUE(is_ok(adopted));
  EXPECT_EQ(adopted->release(), Released::released);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

// It has no fence, so that no fence means it.
TEST_P(BothWays, a_late_release_of_a_lease_of_ours_leaves_their_lock_under_the_same_token_alone) {
  auto lease = lock().acquire({.ttl = 60s, .owner = "shared"});
  ASSERT_TRUE(is_ok(lease));
  const Fence fence = lease->fence();
  lease->detach();
  auto adopted = client.adopt("orders", "shared");
  auto late = client.adopt("orders", "shared");
  ASSERT_TRUE(is_ok(adopted) && is_ok(late));
  EXPECT_EQ(adopted->release(), Released::released);
  ASSERT_TRUE(stranger.take("shared", 60s));
  EXPECT_EQ(late->release(), Released::already_expired);
  const auto by_fence = client.adopt("orders", "shared", fence);
  ASSERT_FALSE(by_fence);
  EXPECT_EQ(by_fence.error().code, Errc::not_held);
  EXPECT_EQ(stranger.holder(), "shared");
  EXPECT_TRUE(stranger.release("shared"));
}

TEST_P(BothWays, a_lease_whose_key_was_deleted_is_lost_and_was_over_before_its_release) {
  auto lost = lock().acquire({.ttl = 60s, .renew_every = 50ms});
  ASSERT_TRUE(is_ok(lost));
  stranger.remove();
  EXPECT_TRUE(eventually([&] { return lost->lost().stop_requested(); }));

  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_GT(lease->fence(), lost->fence());
  stranger.remove();
  EXPECT_EQ(lease->release(), Released::already_expired);
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_P(BothWays, neither_our_renewal_nor_our_release_touches_what_is_theirs_now) {
  auto first = lock().acquire({.renew = false});
  ASSERT_TRUE(is_ok(first));
  stranger.remove();
  ASSERT_TRUE(stranger.take("theirs", 10s));
  const auto extended = first->extend(60s);
  EXPECT_EQ(code_of(extended), "lost");
  EXPECT_LE(stranger.ttl(), 10s);
  ASSERT_TRUE(stranger.release("theirs"));

  auto second = lock().acquire({.renew = false});
  ASSERT_TRUE(is_ok(second));
  stranger.remove();
  ASSERT_TRUE(stranger.take("theirs", 10s));
  EXPECT_EQ(second->release(), Released::held_by_another);
  EXPECT_EQ(stranger.holder(), "theirs");
  EXPECT_LE(stranger.ttl(), 10s);
}

TEST_P(BothWays, fences_grow_across_their_turns) {
  Fence last = 0;
  for (int i = 0; i < 5; ++i) {
    auto lease = lock().acquire();
    ASSERT_TRUE(is_ok(lease));
    EXPECT_GT(lease->fence(), last);
    last = lease->fence();
    ASSERT_TRUE(lease->release());
    ASSERT_TRUE(stranger.take("theirs", 60s));
    ASSERT_TRUE(stranger.release("theirs"));
  }
}

TEST_P(BothWays, whoever_holds_without_a_ttl_is_waited_for_and_named_by_diagnose) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  stranger.take_away_ttl();
  auto turn = start_waiting();
  const auto found = client.diagnose();
  ASSERT_TRUE(is_ok(found));
  EXPECT_THAT(*found, testing::Contains(HasSubstr("'" + stranger.key() + "' has no ttl")));
  ASSERT_TRUE(is_waiting(turn));
  const auto removed = SteadyClock::now();
  stranger.remove();
  const auto [lease, at] = turn.get();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_LT(at - removed, at_most(told_at_once));
  EXPECT_GT(stranger.ttl(), 0ms);
}

// Their key may vanish the next moment, and then no command of ours need ever come again.
TEST_P(BothWays, what_we_know_of_their_lock_does_not_stay_for_long_after_it_is_gone) {
  const auto before = keys();
  ASSERT_TRUE(stranger.take("theirs", 60s));
  for (const bool has_ttl : {true, false}) {
    if (!has_ttl) stranger.take_away_ttl();
    EXPECT_EQ(code_of(lock().acquire()), "busy");
    auto left = keys();
    for (const auto& theirs : peer.protocol->keys(stranger.key())) left.erase(theirs);
    for (const auto& each : before) left.erase(each);
    for (const auto& ours : left) EXPECT_LE(raw.integer({"PTTL", ours}), 11'001) << ours;
  }
}

TEST_P(BothWays, a_token_of_theirs_may_be_anything) {
  const std::string tokens[] = {std::string("\0\xff\r\n{}:hf", 9), std::string(10'000, 'x'), " ",
                                "Größe"};
  for (const auto& token : tokens) {
    ASSERT_TRUE(stranger.take(token, 60s));
    EXPECT_EQ(code_of(lock().acquire()), "busy");
    EXPECT_EQ(client.inspect("orders")->holders.size(), 1U);
    auto turn = start_waiting();
    EXPECT_EQ(client.inspect("orders")->holders.size(), 1U);
    ASSERT_TRUE(stranger.release(token));
    auto [lease, at] = turn.get();
    ASSERT_TRUE(is_ok(lease));
    EXPECT_EQ(lease->release(), Released::released);
  }
}

TEST_P(BothWays, an_owner_of_ours_may_be_any_text) {
  for (const std::string owner : {"worker 7", "Größe 鎖", "a\"b\\c/d", "{x}"}) {
    if (peer.name == "n8n" && owner.find('"') != std::string::npos) continue;
    auto lease = lock().acquire({.owner = owner, .note = "seen"});
    ASSERT_TRUE(is_ok(lease)) << owner;
    EXPECT_EQ(stranger.holder(), owner);
    const auto seen = client.inspect("orders");
    ASSERT_EQ(seen->holders.size(), 1U);
    EXPECT_EQ(seen->holders[0].fence, lease->fence()) << owner;
    ASSERT_TRUE(lease->extend(60s)) << owner;
    EXPECT_EQ(lease->release(), Released::released) << owner;
  }
}

TEST_P(BothWays, a_key_of_another_type_is_a_spec_mismatch_and_left_alone) {
  if (peer.protocol->type() == "string") {
    raw.call({"RPUSH", stranger.key(), "a", "b"});
  } else {
    raw.call({"SET", stranger.key(), "a"});
  }
  const auto before = raw.text({"DUMP", stranger.key()});
  EXPECT_EQ(code_of(lock().acquire()), "spec_mismatch");
  EXPECT_EQ(code_of(lock().acquire({.wait = 1s})), "spec_mismatch");
  EXPECT_EQ(code_of(client.force_release("orders", "test")), "spec_mismatch");
  EXPECT_EQ(raw.text({"DUMP", stranger.key()}), before);
}

TEST_P(BothWays, a_forced_release_takes_their_lock_away) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto turn = start_waiting();
  EXPECT_EQ(client.force_release("orders", "test"), 1U);
  const auto [lease, at] = turn.get();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_EQ(stranger.holder(), lease->owner().str());
}

TEST_P(BothWays, kinds_that_the_key_cannot_tell_are_refused_with_the_reason) {
  const auto refused = [](const Result<Lease>& lease) {
    ASSERT_EQ(code_of(lease), "unsupported");
    EXPECT_THAT(lease.error().message, HasSubstr("dialect"));
  };
  refused(client.read_write("orders").acquire_shared());
  refused(client.read_write("orders").acquire());
  refused(client.semaphore("orders", 2).acquire());
  refused(client.election("orders").campaign("me"));
  if (peer.kind == Kind::mutex) refused(client.reentrant("orders").acquire());
  if (peer.kind == Kind::reentrant) refused(client.mutex("orders").acquire());
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

INSTANTIATE_TEST_SUITE_P(Peers, BothWays, testing::ValuesIn(every_peer()), by_peer);

}  // namespace
}  // namespace holdfast::test
