// SPDX-License-Identifier: Apache-2.0
#include "client/renewal.hpp"

#include <gtest/gtest.h>

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;

constexpr LocalTime start{1000h};

RenewalPlan plan(Terms terms) {
  return {terms, start, valid_until(start, terms.ttl, terms.drift), std::nullopt};
}

// An answer that came at once.
RenewalPlan::Answer answer(LocalTime sent, Micros asked, Micros remaining) {
  return {.before_send = sent, .received = sent, .asked = asked, .remaining = remaining};
}

TEST(RenewalPlan, renews_at_a_third_of_the_ttl) {
  const auto it = plan({.ttl = 30s});
  EXPECT_EQ(it.next_event(), start + 10s);
  EXPECT_FALSE(it.renewal_due(start + 10s - 1us));
  EXPECT_TRUE(it.renewal_due(start + 10s));
}

TEST(RenewalPlan, a_claim_is_confirmed_a_few_milliseconds_after_it_began) {
  const RenewalPlan it({.ttl = 30s}, start, start + 400ms, 450ms);
  EXPECT_GE(it.next_event(), start + 5ms);
  EXPECT_LE(it.next_event(), start + 10ms);
}

TEST(RenewalPlan, a_claim_that_is_about_to_end_is_confirmed_sooner) {
  const RenewalPlan it({.ttl = 30s}, start, start + 400ms, 9ms);
  EXPECT_EQ(it.next_event(), start + 3ms);
}

TEST(RenewalPlan, a_question_is_waited_for_as_long_as_it_is_worth) {
  auto it = plan({.ttl = 30s});
  EXPECT_EQ(it.patience(start + 10s), start + 20s);
  EXPECT_EQ(it.patience(start + 25s), it.lost_at());
  EXPECT_EQ(plan({.ttl = 900ms}).patience(start + 300ms), start + 800ms);
}

TEST(RenewalPlan, knows_since_when_it_was_answered) {
  auto it = plan({.ttl = 30s});
  EXPECT_FALSE(it.is_known_since(start));
  it.renewed({.before_send = start + 1s, .received = start + 3s, .asked = 30s, .remaining = 29s});
  EXPECT_TRUE(it.is_known_since(start + 1s));
  EXPECT_FALSE(it.is_known_since(start + 2s)) << "the answer may be older than that";
}

TEST(RenewalPlan, a_confirmation_does_not_put_off_the_renewal) {
  auto it = plan({.ttl = 30s});
  const LocalTime confirmed = start + 9900ms;
  it.sent();
  const Micros asked = it.ttl_to_confirm(confirmed);
  it.renewed(answer(confirmed, asked, std::max<Micros>(asked, 30s - 9900ms)));
  EXPECT_GT(it.lost_at() - it.next_event(), 10s + 1s) << "a third of the ttl for the answer";
}

TEST(RenewalPlan, never_waits_longer_than_half_of_what_is_left) {
  const RenewalPlan it({.ttl = 30s}, start, start + 100ms, std::nullopt);
  EXPECT_EQ(it.next_event(), start + 50ms);
}

TEST(RenewalPlan, without_renewal_the_next_event_is_the_loss) {
  const auto it = plan({.ttl = 30s, .renew = false});
  EXPECT_EQ(it.next_event(), it.lost_at());
  EXPECT_FALSE(it.renewal_due(start + 20s));
}

TEST(RenewalPlan, is_lost_a_margin_before_the_end_of_its_validity) {
  const auto it = plan({.ttl = 30s});
  EXPECT_EQ(it.lost_at(), it.valid_until() - 50ms);
}

TEST(RenewalPlan, one_renewal_is_on_its_way_at_a_time) {
  auto it = plan({.ttl = 30s});
  it.sent();
  EXPECT_FALSE(it.renewal_due(start + 20s));
  EXPECT_EQ(it.next_event(), it.lost_at());
  it.renewed(answer(start + 10s, 30s, 30s));
  EXPECT_TRUE(it.renewal_due(start + 20s));
}

TEST(RenewalPlan, a_renewal_counts_from_its_sending_and_never_shortens) {
  auto it = plan({.ttl = 30s});
  it.renewed(answer(start + 10s, 30s, 30s));
  EXPECT_EQ(it.valid_until(), valid_until(start + 10s, 30s, {}));
  const RenewalPlan::Answer late{
      .before_send = start + 1s, .received = start + 11s, .asked = 30s, .remaining = 1s};
  it.renewed(late);
  EXPECT_EQ(it.valid_until(), valid_until(start + 10s, 30s, {}));
}

TEST(RenewalPlan, a_slow_answer_that_tells_of_the_same_end_shortens_nothing) {
  auto it = plan({.ttl = 30s});
  const RenewalPlan::Answer slow{
      .before_send = start + 1s, .received = start + 3s, .asked = 20ms, .remaining = 27s};
  it.renewed(slow);
  EXPECT_EQ(it.valid_until(), valid_until(start, 30s, {}));
}

// The store's clock was set back by an hour, and forward again later.
TEST(RenewalPlan, is_not_believed_in_for_longer_than_the_longest_ttl_it_asked_for) {
  auto it = plan({.ttl = 30s});
  it.renewed(answer(start + 10s, 30s, 1h));
  EXPECT_EQ(it.valid_until(), valid_until(start + 10s, 30s, {}));
  it.renewed(answer(start + 20s, 90s, 1h));
  EXPECT_EQ(it.valid_until(), valid_until(start + 20s, 90s, {}));
  it.renewed(answer(start + 30s, 30s, 1h));
  EXPECT_EQ(it.valid_until(), valid_until(start + 30s, 90s, {}));
}

TEST(RenewalPlan, a_newer_answer_that_tells_of_an_earlier_end_is_believed) {
  auto it = plan({.ttl = 30s});
  it.renewed(answer(start + 10s, 30s, 30s));
  it.renewed(answer(start + 11s, 20ms, 5s));
  EXPECT_EQ(it.valid_until(), valid_until(start + 11s, 5s, {}));
}

TEST(RenewalPlan, an_adopted_lease_may_have_more_left_than_a_default_ttl) {
  RenewalPlan it({.ttl = 30s, .renew = false}, start, start + 10min, std::nullopt);
  it.renewed(answer(start + 1s, 20ms, 11min));
  EXPECT_EQ(it.valid_until(), start + 10min);
}

TEST(RenewalPlan, a_store_with_more_drift_is_believed_in_for_less) {
  auto it = plan({.ttl = 30s, .drift = {100'000}});
  EXPECT_EQ(it.valid_until(), start + 27s - 2ms);
  it.renewed(answer(start + 10s, 30s, 30s));
  EXPECT_EQ(it.valid_until(), start + 37s - 2ms);
}

TEST(RenewalPlan, failures_are_retried_with_growing_pauses_and_a_success_forgets_them) {
  auto it = plan({.ttl = 30s});
  const LocalTime first_failure = start + 10s;
  constexpr std::uint64_t no_jitter_up = 0;
  it.failed(first_failure, no_jitter_up);
  EXPECT_EQ(it.next_event(), first_failure + 37500us);
  it.failed(first_failure, no_jitter_up);
  EXPECT_EQ(it.next_event(), first_failure + 75ms);
  for (int i = 0; i < 20; ++i) it.failed(first_failure, no_jitter_up);
  EXPECT_EQ(it.next_event(), first_failure + 375ms);
  it.renewed(answer(first_failure, 30s, 30s));
  it.failed(first_failure, no_jitter_up);
  EXPECT_EQ(it.next_event(), first_failure + 37500us);
}

TEST(RenewalPlan, a_failure_does_not_start_a_renewal_that_nobody_wanted) {
  auto it = plan({.ttl = 30s, .renew = false});
  it.sent();
  it.failed(start + 1s, 0);
  EXPECT_EQ(it.next_event(), it.lost_at());
}

TEST(RenewalPlan, an_extension_that_failed_does_not_put_off_the_confirmation_of_a_claim) {
  RenewalPlan it({.ttl = 30s}, start, start + 400ms, 450ms);
  const auto planned = it.next_event();
  it.sent();
  it.failed(start + 1ms, 0);
  EXPECT_EQ(it.next_event(), planned);
}

TEST(RenewalPlan, a_claim_without_renewal_is_confirmed_once) {
  RenewalPlan it({.ttl = 30s, .renew = false}, start, start + 400ms, 450ms);
  EXPECT_TRUE(it.renewal_due(start + 150ms));
  it.renewed(answer(start + 150ms, 30s, 30s));
  EXPECT_EQ(it.next_event(), it.lost_at());
}

TEST(RenewalPlan, max_hold_asks_for_less_and_less_and_then_for_nothing) {
  const auto it = plan({.ttl = 30s, .max_hold = 60s});
  EXPECT_EQ(it.ttl_to_ask(start + 20s), 30s);
  EXPECT_EQ(it.ttl_to_ask(start + 50s), 10s);
  EXPECT_EQ(it.ttl_to_ask(start + 60s - 20ms), 20ms);
  EXPECT_EQ(it.ttl_to_ask(start + 60s - 19ms), std::nullopt);
  EXPECT_EQ(it.ttl_to_ask(start + 61s), std::nullopt);
}

TEST(RenewalPlan, once_stopped_it_only_waits_for_its_end) {
  auto it = plan({.ttl = 30s});
  it.stop_renewing();
  EXPECT_EQ(it.next_event(), it.lost_at());
  it.renewed(answer(start + 10s, 30s, 30s));
  EXPECT_EQ(it.next_event(), it.lost_at());
}

TEST(RenewalPlan, a_new_ttl_changes_the_pace) {
  auto it = plan({.ttl = 30s});
  it.change_ttl(60s);
  it.renewed(answer(start + 10s, 60s, 60s));
  EXPECT_EQ(it.next_event(), start + 30s);
}

}  // namespace
}  // namespace holdfast::client
