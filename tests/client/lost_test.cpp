// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class Lost : public ClientTest {
 public:
  // When the signal came, and whether the lock was still ours in the store at that moment.
  struct Signal {
    std::optional<LocalTime> at;
    bool while_held = false;
  };
  auto watch(const Lease& lease, Signal& signal) {
    auto note = [this, &signal, name = lease.name().str()] {
      signal.at = now();
      signal.while_held = holders(name) == 1;
    };
    return std::make_unique<std::stop_callback<decltype(note)>>(lease.lost(), std::move(note));
  }
};

// An operator ended it, and a late copy of its request gave it back with a newer fence.
TEST_F(Lost, is_a_lease_that_ended_and_was_given_anew_behind_its_back) {
  const auto lease = hold(mine, "orders", {.ttl = 3s});
  const auto asked = mine.line->history(Verb::acquire).at(0);
  value_of(other.api.force_release("orders", "a test"));
  mine.line->send_again(asked);
  ASSERT_EQ(holders("orders"), 1U);
  const auto lost = lease->lost();
  advance(1100ms);
  EXPECT_TRUE(lost.stop_requested());
  lease->abandon();
}

TEST_F(Lost, fires_by_the_local_clock_alone_and_before_the_store_would_grant_anybody_else) {
  for (const Duration ttl : {Duration(20ms), Duration(100ms), Duration(1s), Duration(30s)}) {
    const auto start = now();
    auto lease = mine.take("orders", {.ttl = ttl});
    Signal signal;
    const auto watching = watch(lease, signal);
    mine.line->pause();
    auto next = other.acquire("orders", {.wait = 60s, .retry = true});
    advance(ttl);
    ASSERT_TRUE(signal.at) << ttl.count();
    EXPECT_TRUE(signal.while_held) << "the store would have granted it already";
    EXPECT_LT(*signal.at, start + ttl - client::drift_allowance(ttl, {}));
    EXPECT_FALSE(lease.valid());
    advance(2100ms);
    EXPECT_TRUE(next.result().has_value());
    mine.line->resume();
  }
}

TEST_F(Lost, comes_no_earlier_than_it_must_while_the_store_is_only_silent) {
  const auto lease = mine.take("orders", {.ttl = 30s});
  mine.line->pause();
  advance(29600ms);
  EXPECT_FALSE(lease.lost().stop_requested());
  EXPECT_TRUE(lease.valid());
  advance(100ms);
  EXPECT_TRUE(lease.lost().stop_requested());
}

TEST_F(Lost, is_counted_from_the_last_renewal_that_was_answered) {
  const auto start = now();
  const auto lease = mine.take("orders", {.ttl = 30s});
  Signal signal;
  const auto watching = watch(lease, signal);
  advance(25s);  // renewed at 10 and 20
  mine.line->pause();
  advance(60s);
  ASSERT_TRUE(signal.at);
  EXPECT_LT(*signal.at, start + 50s);
  EXPECT_GT(*signal.at, start + 49s);
}

TEST_F(Lost, a_renewal_that_was_done_but_not_answered_does_not_move_the_local_deadline) {
  const auto start = now();
  const auto lease = mine.take("orders", {.ttl = 3s});
  Signal signal;
  const auto watching = watch(lease, signal);
  mine.line->script(Verb::renew, Fault::lose_reply(), 100);
  advance(10s);
  ASSERT_TRUE(signal.at);
  EXPECT_LT(*signal.at, start + 3s);
}

TEST_F(Lost, not_yours_is_lost_at_once) {
  const auto lease = mine.take("orders", {.ttl = 30s});
  value_of(other.api.force_release("orders", "a test"));
  const auto thief = other.take("orders");
  EXPECT_FALSE(lease.lost().stop_requested()) << "nobody has asked the store since";
  advance(10s);
  EXPECT_TRUE(lease.lost().stop_requested());
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(thief.valid());
  EXPECT_GT(thief.fence(), lease.fence());
}

TEST_F(Lost, a_forced_release_of_a_free_lock_is_noticed_at_the_next_renewal) {
  const auto lease = mine.take("orders", {.ttl = 30s});
  EXPECT_EQ(value_of(other.api.force_release("orders", "a test")), 1U);
  EXPECT_EQ(error_of(other.api.force_release("orders", "a test")), Errc::not_held);
  advance(10s);
  EXPECT_TRUE(lease.lost().stop_requested());
}

TEST_F(Lost, an_emptied_store_is_noticed_at_the_next_renewal) {
  const auto lease = mine.take("orders", {.ttl = 30s});
  store->empty();
  advance(10s - 1us);
  EXPECT_FALSE(lease.lost().stop_requested());
  advance(1us);
  EXPECT_TRUE(lease.lost().stop_requested());
  EXPECT_EQ(mine.line->count(Verb::renew), 1U);
}

TEST_F(Lost, valid_compares_the_clock_at_every_call) {
  const auto lease = mine.take("orders", {.ttl = 30s});
  EXPECT_TRUE(lease.valid());
  // The whole process was stopped: no timer ran and no signal came.
  runtime->stall(31s);
  EXPECT_FALSE(lease.valid());
  EXPECT_EQ(lease.remaining(), Duration::zero());
  EXPECT_FALSE(lease.lost().stop_requested());
  runtime->run();
  advance(0s);
  EXPECT_TRUE(lease.lost().stop_requested());
}

TEST_F(Lost, a_process_that_wakes_in_time_renews) {
  const auto lease = mine.take("orders", {.ttl = 30s});
  runtime->stall(25s);
  advance(0s);
  EXPECT_TRUE(lease.valid());
  EXPECT_GT(lease.remaining(), 29s);
}

TEST_F(Lost, the_callback_runs_once) {
  auto lease = mine.take("orders", {.ttl = 1s});
  std::vector<Errc> heard;
  lease.on_lost([&](const Error& error) { heard.push_back(error.code); });
  mine.line->pause();
  advance(10s);
  mine.line->resume();
  advance(10s);
  EXPECT_EQ(heard, std::vector{Errc::lost});
  EXPECT_EQ(mine.core->lost.load(), 1U);
}

TEST_F(Lost, a_callback_set_after_the_loss_runs_soon) {
  auto lease = mine.take("orders", {.ttl = 1s, .renew = false});
  advance(2s);
  int heard = 0;
  lease.on_lost([&](const Error& error) {
    EXPECT_EQ(error.code, Errc::lost);
    ++heard;
  });
  runtime->run();
  EXPECT_EQ(heard, 1);
}

TEST_F(Lost, a_later_callback_replaces_an_earlier_one_and_an_empty_one_removes_it) {
  auto replaced = mine.take("a", {.ttl = 1s, .renew = false});
  auto removed = mine.take("b", {.ttl = 1s, .renew = false});
  int first = 0;
  int second = 0;
  replaced.on_lost([&](const Error&) { ++first; });
  replaced.on_lost([&](const Error&) { ++second; });
  removed.on_lost([&](const Error&) { ++first; });
  removed.on_lost({});
  advance(2s);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST_F(Lost, a_token_asked_for_after_the_loss_has_fired_already) {
  const auto lease = mine.take("orders", {.ttl = 1s, .renew = false});
  advance(2s);
  EXPECT_TRUE(lease.lost().stop_requested());
}

TEST_F(Lost, a_release_is_no_loss) {
  auto lease = mine.take("orders", {.ttl = 1s});
  int heard = 0;
  lease.on_lost([&](const Error&) { ++heard; });
  const auto token = lease.lost();
  value_of(lease.release());
  advance(60s);
  EXPECT_EQ(heard, 0);
  EXPECT_FALSE(token.stop_requested());
  EXPECT_EQ(mine.core->lost.load(), 0U);
}

TEST_F(Lost, the_callback_may_use_and_even_end_the_lease) {
  auto lease = std::make_optional(mine.take("orders", {.ttl = 1s, .renew = false}));
  bool ran = false;
  lease->on_lost([&](const Error&) {
    EXPECT_FALSE(lease->valid());
    EXPECT_GT(lease->fence(), 0U);
    lease.reset();
    ran = true;
  });
  advance(2s);
  EXPECT_TRUE(ran);
}

TEST_F(Lost, nothing_is_renewed_after_a_loss) {
  const auto lease = mine.take("orders", {.ttl = 3s});
  mine.line->pause();
  advance(10s);
  const auto sent = mine.line->count(Verb::renew);
  mine.line->resume();
  advance(60s);
  EXPECT_EQ(mine.line->count(Verb::renew), sent);
  EXPECT_FALSE(lease.valid());
}

}  // namespace
}  // namespace holdfast::test
