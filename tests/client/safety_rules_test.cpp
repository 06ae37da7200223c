// SPDX-License-Identifier: Apache-2.0
//
// The nine rules of docs/architecture.md#rules-of-safety, each by its number. The files beside this
// one go into the corners.
#include "backends/memory/memory_store.hpp"
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class SafetyRule : public ClientTest {};

// Rule 1. A client whose clock runs at another speed and shows another day than the store's.
class SafetyRule1 : public testing::TestWithParam<std::int64_t> {
 public:
  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::shared_ptr<OtherClock> clock = std::make_shared<OtherClock>(runtime, -999h, GetParam());
  std::shared_ptr<FaultStore> store =
      FaultStore::over(runtime, [this] { return backends::memory::make_memory_store(clock); });
  HandClient mine{store, runtime};
  HandClient other{store->another_line(), runtime};
};

TEST_P(SafetyRule1, the_signal_comes_before_the_store_grants_anybody_else) {
  for (const Duration ttl : {Duration(20ms), Duration(300ms), Duration(30s), Duration(20min)}) {
    const auto lease = mine.take("orders", {.ttl = ttl, .renew = false});
    auto next = other.acquire("orders", {.wait = 24h, .retry = true});
    bool early = false;
    const std::stop_callback on_lost(lease.lost(), [&] { early = !next.done(); });
    while (!next.done()) runtime->advance(1ms + ttl / 1000);
    EXPECT_TRUE(early) << ttl.count();
    EXPECT_FALSE(lease.valid());
  }
}

TEST_P(SafetyRule1, two_clients_never_believe_at_once_while_a_claim_is_handed_over) {
  auto lease = std::make_optional(mine.take("orders", {.ttl = 2s}));
  auto next = other.acquire("orders", {.ttl = 2s, .wait = 24h});
  runtime->advance(10min);  // the clock pair is old by then, but asked anew by the back-stop
  const auto released_at = runtime->now();
  lease.reset();
  runtime->run();
  ASSERT_TRUE(next.done());
  const auto claim_ends = released_at + 500ms * (1'000'000 - GetParam()) / 1'000'000;
  EXPECT_LT(runtime->now() + next.result()->remaining(), claim_ends);
}

INSTANTIATE_TEST_SUITE_P(ClockRates, SafetyRule1, testing::Values(0, 9'000, -9'000));

TEST_F(SafetyRule, rule_1_the_deadline_is_counted_from_before_the_sending_of_the_very_command) {
  const auto start = now();
  mine.line->script(Verb::acquire, Fault::lose_request());
  mine.line->script(Verb::acquire, Fault::delay_reply(300ms));
  auto acquiring = mine.acquire("orders", {.ttl = 10s, .wait = 5s});
  advance(2s);
  const auto sent = mine.line->history(Verb::acquire);
  ASSERT_EQ(sent.size(), 2U);
  const auto until = now() + acquiring.result()->remaining();
  EXPECT_GT(until, start + 10s) << "not from the first attempt";
  EXPECT_LE(until, sent[1].at + 10s - client::drift_allowance(10s, {})) << "not from receipt";
}

TEST_F(SafetyRule, rule_1_a_slow_renewal_counts_from_its_own_sending) {
  const auto lease = mine.take("orders", {.ttl = 10s});
  mine.line->script(Verb::renew, Fault::delay_reply(400ms));
  advance(3800ms);
  const auto sent = mine.line->history(Verb::renew).at(0).at;
  EXPECT_LE(now() + lease.remaining(), sent + 10s - client::drift_allowance(10s, {}));
  EXPECT_GT(lease.remaining(), 9s);
}

TEST_F(SafetyRule, rule_2_fences_grow_over_expiry_force_and_an_emptied_store) {
  Fence last = 0;
  const auto grows = [&](const Lease& lease) {
    EXPECT_GT(lease.fence(), last);
    last = lease.fence();
  };
  grows(mine.take("orders"));
  const auto expired = mine.take("orders", {.ttl = 1s, .renew = false});
  grows(expired);
  advance(2s);
  const auto forced = other.take("orders");
  grows(forced);
  value_of(mine.api.force_release("orders", "a test"));
  grows(mine.take("orders"));
  store->empty();
  grows(mine.take("orders"));
}

TEST_F(SafetyRule, rule_2_a_fence_is_unchanged_by_re_entry_and_renewal) {
  auto lock = mine.api.reentrant("tree");
  const auto outer = value_of(lock.acquire({.ttl = 3s, .owner = "me"}));
  const auto inner = value_of(lock.acquire({.ttl = 3s, .owner = "me"}));
  EXPECT_EQ(outer.fence(), inner.fence());
  advance(10s);
  EXPECT_EQ(outer.fence(), inner.fence());
}

TEST_F(SafetyRule, rule_3_a_lost_reply_leads_to_one_holder_or_none_never_two) {
  for (const auto wait : {Duration(0s), Duration(5s)}) {
    mine.line->script(Verb::acquire, Fault::lose_reply());
    auto acquiring = mine.acquire("orders", {.ttl = 10s, .wait = wait});
    advance(1s);
    ASSERT_TRUE(acquiring.done());
    EXPECT_EQ(holders("orders"), acquiring.result() ? 1U : 0U);
  }
}

TEST_F(SafetyRule, rule_4_renewal_is_made_with_the_lease_and_ends_with_it) {
  auto lease = std::make_optional(mine.take("orders", {.ttl = 3s}));
  advance(10s);
  EXPECT_EQ(mine.line->count(Verb::renew), 10U);
  EXPECT_EQ(runtime->timers(), 1U);
  lease.reset();
  EXPECT_EQ(runtime->timers(), 0U);
  advance(60s);
  EXPECT_EQ(mine.line->count(Verb::renew), 10U);
}

TEST_F(SafetyRule, rule_5_release_says_released_expired_or_held_by_another) {
  auto released = mine.take("a");
  auto expired = mine.take("b", {.ttl = 1s, .renew = false});
  auto taken = mine.take("c", {.ttl = 1s, .renew = false});
  advance(2s);
  const auto thief = other.take("c");
  EXPECT_EQ(value_of(released.release()), Released::released);
  EXPECT_EQ(value_of(expired.release()), Released::already_expired);
  EXPECT_EQ(value_of(taken.release()), Released::held_by_another);
}

TEST_F(SafetyRule, rule_6_identity_is_the_handle_never_the_thread) {
  const auto lease = mine.take("orders");
  EXPECT_EQ(error_of(mine.api.mutex("orders").try_acquire()), Errc::busy)
      << "the same thread and client";
  auto lock = mine.api.reentrant("tree");
  const auto outer = value_of(lock.acquire());
  EXPECT_EQ(error_of(lock.try_acquire()), Errc::busy) << "without the same owner no re-entry";
  EXPECT_TRUE(lock.try_acquire({.owner = outer.owner().str()}).has_value());
}

TEST_F(SafetyRule, rule_7_what_the_store_cannot_keep_is_refused_with_a_sentence) {
  mine.line->set_queues(false);
  const auto refused = mine.api.mutex("orders", Order::fifo).try_acquire();
  EXPECT_EQ(error_of(refused), Errc::unsupported);
  EXPECT_NE(refused.error().message.find("queue"), std::string::npos);
}

TEST_F(SafetyRule, rule_8_every_limit_is_named_in_its_refusal) {
  const auto says = [](const Result<Lease>& refused, std::string_view word) {
    EXPECT_EQ(error_of(refused), Errc::bad_input);
    EXPECT_NE(refused.error().message.find(word), std::string::npos) << refused.error().message;
  };
  auto lock = mine.api.mutex("orders");
  const std::string long_note(max_metadata_bytes + 1, 'x');
  const std::string long_owner(max_owner_bytes + 1, 'x');
  says(lock.try_acquire({.ttl = max_ttl + 1us}), "ttl");
  says(lock.acquire({.wait = max_wait + 1us}), "wait");
  says(lock.try_acquire({.owner = long_owner}), "owner");
  says(lock.try_acquire({.note = long_note}), "metadata");
  says(mine.api.mutex(std::string(max_name_bytes + 1, 'x')).try_acquire(), "name");
  EXPECT_EQ(error_of(mine.api.list({.limit = max_page + 1})), Errc::bad_input);
  EXPECT_TRUE(store_is_empty());
}

// Rule 9 is about scripts; its reflection here: a command that is refused changes nothing.
TEST_F(SafetyRule, rule_9_a_refused_command_has_written_nothing) {
  const auto lease = mine.take("orders", {.ttl = 10s});
  auto waiting = other.acquire("orders", {.wait = 60s});
  const auto before = seen("orders");
  EXPECT_EQ(error_of(other.api.semaphore("orders", 2).try_acquire()), Errc::spec_mismatch);
  EXPECT_EQ(error_of(other.api.adopt("orders", "me")), Errc::not_owner);
  const auto after = seen("orders");
  EXPECT_EQ(after.holders.size(), before.holders.size());
  EXPECT_EQ(after.holders[0].fence, before.holders[0].fence);
  EXPECT_EQ(after.holders[0].remaining, before.holders[0].remaining);
  EXPECT_EQ(after.waiters.size(), before.waiters.size());
  advance(60s);
}

}  // namespace
}  // namespace holdfast::test
