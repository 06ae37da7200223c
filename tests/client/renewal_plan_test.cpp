// SPDX-License-Identifier: Apache-2.0
#include "client/renewal.hpp"

#include <gtest/gtest.h>

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;

constexpr LocalTime start{1000h};

RenewalPlan plan(Terms terms) {
  return {terms, start, valid_until(start, terms.ttl), std::nullopt};
}

TEST(RenewalPlan, renews_at_a_third_of_the_ttl) {
  const auto it = plan({.ttl = 30s});
  EXPECT_EQ(it.next_event(), start + 10s);
  EXPECT_FALSE(it.renewal_due(start + 10s - 1us));
  EXPECT_TRUE(it.renewal_due(start + 10s));
}

TEST(RenewalPlan, a_claim_is_confirmed_at_a_third_of_it) {
  const RenewalPlan it({.ttl = 30s}, start, start + 400ms, 450ms);
  EXPECT_EQ(it.next_event(), start + 150ms);
}

TEST(RenewalPlan, a_short_ttl_comes_before_a_long_claim) {
  const RenewalPlan it({.ttl = 60ms}, start, start + 400ms, 450ms);
  EXPECT_EQ(it.next_event(), start + 20ms);
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
  it.renewed(start + 10s, 30s);
  EXPECT_TRUE(it.renewal_due(start + 20s));
}

TEST(RenewalPlan, a_renewal_counts_from_its_sending_and_never_shortens) {
  auto it = plan({.ttl = 30s});
  it.renewed(start + 10s, 30s);
  EXPECT_EQ(it.valid_until(), valid_until(start + 10s, 30s));
  it.renewed(start + 11s, 1s);
  EXPECT_EQ(it.valid_until(), valid_until(start + 10s, 30s));
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
  it.renewed(first_failure, 30s);
  it.failed(first_failure, no_jitter_up);
  EXPECT_EQ(it.next_event(), first_failure + 37500us);
}

TEST(RenewalPlan, a_failure_does_not_start_a_renewal_that_nobody_wanted) {
  auto it = plan({.ttl = 30s, .renew = false});
  it.sent();
  it.failed(start + 1s, 0);
  EXPECT_EQ(it.next_event(), it.lost_at());
}

TEST(RenewalPlan, a_claim_without_renewal_is_confirmed_once) {
  RenewalPlan it({.ttl = 30s, .renew = false}, start, start + 400ms, 450ms);
  EXPECT_TRUE(it.renewal_due(start + 150ms));
  it.renewed(start + 150ms, 30s);
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
  it.renewed(start + 10s, 30s);
  EXPECT_EQ(it.next_event(), it.lost_at());
}

TEST(RenewalPlan, a_new_ttl_changes_the_pace) {
  auto it = plan({.ttl = 30s});
  it.change_ttl(60s);
  it.renewed(start + 10s, 60s);
  EXPECT_EQ(it.next_event(), start + 30s);
}

}  // namespace
}  // namespace holdfast::client
