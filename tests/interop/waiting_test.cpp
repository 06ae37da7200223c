// SPDX-License-Identifier: Apache-2.0
//
// Waiting for strangers when something goes wrong on the way.
#include "interop_fixture.hpp"

namespace holdfast::test {
namespace {

class WaitingForStrangers : public InteropTest, public testing::WithParamInterface<Peer> {
 protected:
  WaitingForStrangers() : InteropTest(GetParam()) {}

  // Their release must wake the waiter although its timers are far away.
  void expect_prompt_turn(std::future<Turn> turn, const std::string& token) {
    ASSERT_TRUE(is_waiting(turn));
    const auto released = SteadyClock::now();
    ASSERT_TRUE(stranger.release(token));
    const auto [lease, at] = turn.get();
    ASSERT_TRUE(is_ok(lease));
    EXPECT_LT(at - released, at_most(told_at_once));
    EXPECT_EQ(stranger.holder(), lease->owner().str());
  }
  // How often the server was asked to track a key. Redis 6.2 does not count that apart.
  long long times_tracked() { return calls_of("client|caching"); }
};

TEST_P(WaitingForStrangers, a_subscription_that_was_cut_is_made_again) {
  HOLDFAST_NEEDS_REDIS(7, 0);
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto turn = start_waiting();
  const auto before = times_tracked();
  ASSERT_GE(raw.integer({"CLIENT", "KILL", "TYPE", "pubsub"}), 1);
  ASSERT_TRUE(eventually([&] { return times_tracked() > before; }, 700ms));
  expect_prompt_turn(std::move(turn), "theirs");
}

TEST_P(WaitingForStrangers, a_connection_that_was_cut_is_made_again_and_tracks_again) {
  HOLDFAST_NEEDS_REDIS(7, 0);
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto turn = start_waiting();
  const auto before = times_tracked();
  ASSERT_GE(raw.integer({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}), 1);
  ASSERT_TRUE(eventually([&] { return times_tracked() > before; }, 700ms));
  stranger = Stranger(peer, shared_server(), "orders");
  expect_prompt_turn(std::move(turn), "theirs");
}

TEST_P(WaitingForStrangers, both_connections_that_were_cut_are_made_again) {
  HOLDFAST_NEEDS_REDIS(7, 0);
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto turn = start_waiting();
  const auto before = times_tracked();
  raw.call({"CLIENT", "KILL", "TYPE", "pubsub"});
  raw.call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  ASSERT_TRUE(eventually([&] { return times_tracked() > before; }, 700ms));
  // Whichever came first, the other one asks once more.
  EXPECT_TRUE(eventually([&] { return commands_meanwhile() == 0; }));
  stranger = Stranger(peer, shared_server(), "orders");
  expect_prompt_turn(std::move(turn), "theirs");
}

TEST_P(WaitingForStrangers, one_stranger_after_the_other_is_waited_for) {
  ASSERT_TRUE(stranger.take("first", 60s));
  auto turn = start_waiting();
  Stranger next(peer, shared_server(), "next");
  const auto from = peer.protocol->keys(next.key());
  const auto to = peer.protocol->keys(stranger.key());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(next.take("next", 60s));
    const auto before = questions();
    // In one go, so that nobody of ours can come between.
    raw.call({"MULTI"});
    for (std::size_t k = 0; k < to.size(); ++k) raw.call({"RENAME", from[k], to[k]});
    raw.call({"EXEC"});
    ASSERT_TRUE(eventually([&] { return questions() > before; }));
    ASSERT_TRUE(is_waiting(turn));
  }
  expect_prompt_turn(std::move(turn), "next");
}

// Our own change of a key ends its tracking just as theirs does.
TEST_P(WaitingForStrangers, a_stranger_that_comes_after_one_of_ours_is_tracked_too) {
  HOLDFAST_NEEDS_REDIS(7, 0);
  ASSERT_TRUE(stranger.take("first", 60s));
  auto first = start_waiting();
  auto second = start_waiting();
  stranger.set_ttl(50ms);
  auto [lease, at] = first.get();
  ASSERT_TRUE(is_ok(lease));
  // Our holder's key is taken away, and one of theirs comes before our queue. The second waiter may
  // ask at any moment from now on.
  const auto before = times_tracked();
  stranger.remove();
  if (!stranger.take("barger", 60s)) GTEST_SKIP() << "our second waiter was faster";
  EXPECT_EQ(lease->release(), Released::held_by_another);
  // Where our holder's key is tracked too, the number does not tell who asked: the waiter, which
  // does so by itself about once a second.
  const auto asked = questions();
  if (peer.name == "n8n") {
    ASSERT_TRUE(eventually([&] { return questions() > asked; }));
  }
  ASSERT_TRUE(eventually([&] { return times_tracked() > before; }));
  expect_prompt_turn(std::move(second), "barger");
}

TEST_P(WaitingForStrangers, flushing_everything_wakes_everybody) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto turn = start_waiting();
  const auto flushed = SteadyClock::now();
  raw.call({"FLUSHALL"});
  const auto [lease, at] = turn.get();
  ASSERT_TRUE(is_ok(lease));
  EXPECT_LT(at - flushed, at_most(told_at_once));
}

TEST_P(WaitingForStrangers, a_waiter_that_gives_up_leaves_nothing_and_wakes_the_others) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto impatient = start_waiting(client, {.wait = 150ms});
  auto patient = start_waiting();
  EXPECT_THAT(code_of(impatient.get().lease), gave_up());
  EXPECT_TRUE(eventually([&] { return waiters() == 1; }));
  expect_prompt_turn(std::move(patient), "theirs");
}

TEST_P(WaitingForStrangers, a_waiter_without_a_queue_gets_it_by_asking_again) {
  ASSERT_TRUE(stranger.take("theirs", 60s));
  const auto before = questions();
  auto turn = std::async(std::launch::async, [lock = lock()]() mutable {
    return lock.acquire({.wait = 60s, .retry = true}).has_value();
  });
  ASSERT_TRUE(eventually([&] { return questions() > before; }));
  ASSERT_TRUE(stranger.release("theirs"));
  EXPECT_TRUE(turn.get());
}

INSTANTIATE_TEST_SUITE_P(Peers, WaitingForStrangers, testing::ValuesIn(some_peers()), by_peer);

}  // namespace
}  // namespace holdfast::test
