// SPDX-License-Identifier: Apache-2.0
#include "client/validity.hpp"

#include <gtest/gtest.h>

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;

constexpr LocalTime sent{1000h};
constexpr Drift one_per_cent{};
constexpr StoreTime store_sent{5h};

TEST(Validity, the_drift_is_one_per_cent_and_two_milliseconds) {
  EXPECT_EQ(drift_allowance(0s, one_per_cent), 2ms);
  EXPECT_EQ(drift_allowance(30s, one_per_cent), 302ms);
  EXPECT_EQ(drift_allowance(20ms, one_per_cent), 2200us);
}

TEST(Validity, a_reply_counts_from_before_its_command_was_sent) {
  EXPECT_EQ(valid_until(sent, 30s, one_per_cent), sent + 30s - 302ms);
}

TEST(Validity, a_reply_with_nothing_left_is_over_already) {
  EXPECT_LT(valid_until(sent, 0s, one_per_cent), sent);
  EXPECT_LT(valid_until(sent, 1ms, one_per_cent), sent);
}

TEST(Validity, a_message_counts_from_the_earliest_moment_the_grant_can_have_been) {
  const ClockPair pair{sent, store_sent};
  const model::Grant grant{.fence = 1, .at = store_sent + 100ms, .lease = 500ms};
  EXPECT_EQ(valid_until(pair, grant, sent + 1h, one_per_cent), sent + 99ms + 500ms - 7ms);
}

TEST(Validity, a_grant_before_the_pair_was_read_is_put_further_back) {
  const ClockPair pair{sent, store_sent};
  const model::Grant grant{.fence = 1, .at = store_sent - 100ms, .lease = 500ms};
  EXPECT_EQ(valid_until(pair, grant, sent + 1h, one_per_cent), sent - 101ms - 10us + 500ms - 7ms);
}

// Within the grain of the clocks the receipt is the bound. Beyond it the pair is another server's,
// or the store's clock was set since: the receipt says nothing of when the grant was made.
TEST(Validity, a_pair_that_puts_the_grant_after_its_receipt_is_void) {
  const ClockPair pair{sent, store_sent};
  const model::Grant grant{.fence = 1, .at = store_sent + 100ms, .lease = 500ms};
  EXPECT_EQ(valid_until(pair, grant, sent + 97ms, one_per_cent), sent + 97ms + 500ms - 7ms);
  EXPECT_EQ(valid_until(pair, grant, sent + 96ms, one_per_cent), std::nullopt);
  const model::Grant from_the_future{.fence = 1, .at = store_sent + 1h, .lease = 500ms};
  EXPECT_EQ(usable_at_once(pair, from_the_future, sent + 1s, one_per_cent), std::nullopt);
}

TEST(Validity, a_message_is_usable_at_once_only_with_a_pair_and_half_of_the_claim_left) {
  const ClockPair pair{sent, store_sent};
  const model::Grant grant{.fence = 1, .at = store_sent, .lease = 500ms};
  EXPECT_FALSE(usable_at_once(std::nullopt, grant, sent, one_per_cent));
  EXPECT_TRUE(usable_at_once(pair, grant, sent + 243ms, one_per_cent));
  EXPECT_FALSE(usable_at_once(pair, grant, sent + 243ms + 1us, one_per_cent));
}

// Whatever the clocks' speeds within the drift: what we believe ends before the store's lease.
class ValidityWithDrift : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(, ValidityWithDrift, ::testing::Values(10'000, 50'000, 100'000, 500'000));

TEST_P(ValidityWithDrift, belief_ends_before_the_lease_for_all_clocks_that_keep_within_it) {
  const Drift drift{GetParam()};
  const double most = drift.ppm / 1e6;
  // Store seconds per local second.
  for (const double rate : {1 - most, 1 - most / 2, 1.0, 1 + most / 2, 1 + most}) {
    for (const auto lease : {20ms, 500ms, 30'000ms}) {
      for (const auto age : {0ms, 10ms, 100ms, 1'000ms, 60'000ms}) {
        const ClockPair pair{sent, store_sent};
        const Micros store_age(static_cast<std::int64_t>(
            static_cast<double>(std::chrono::microseconds(age).count()) * rate));
        const model::Grant grant{.fence = 1, .at = store_sent + store_age, .lease = lease};
        const Micros real_length(static_cast<std::int64_t>(
            static_cast<double>(std::chrono::microseconds(lease).count()) / rate));
        const auto until = valid_until(pair, grant, sent + age, drift);
        ASSERT_TRUE(until);
        EXPECT_LT(*until, sent + age + real_length);
        EXPECT_LT(valid_until(sent, lease, drift), sent + real_length);
      }
    }
  }
}

TEST(Validity, the_margin_is_a_tenth_and_at_most_fifty_milliseconds) {
  EXPECT_EQ(lost_margin(20ms), 2ms);
  EXPECT_EQ(lost_margin(30s), 50ms);
}

TEST(Validity, what_is_due_at_about_the_same_time_is_done_together_and_never_later) {
  const LocalTime noon{1h};
  EXPECT_EQ(together(noon + 42ms, 900ms), noon + 42ms);
  EXPECT_EQ(together(noon + 142ms, 10s), noon + 100ms);
  EXPECT_EQ(together(noon + 199ms, 10s), noon + 100ms);
  EXPECT_EQ(together(noon + 16ms, 1s), noon + 15625us);
}

TEST(Validity, the_back_stop_is_about_a_second_or_the_moment_there_may_be_room) {
  const model::Queued far{.place = 9, .ahead = 5, .retry_after = 1h};
  EXPECT_EQ(backstop(far, Standing::first, 1, 0), 800ms);
  EXPECT_EQ(backstop(far, Standing::first, 1, 399'999), 1199999us);
  EXPECT_EQ(backstop(far, Standing::first, 1, 400'000), 800ms);
  EXPECT_EQ(backstop(far, Standing::first_for_long, 1, 0), 1600ms);
  EXPECT_EQ(backstop(far, Standing::first_for_long, 1, 799'999), 2399999us);
  EXPECT_EQ(backstop(far, Standing::behind, 1, 0), 4s);
  EXPECT_EQ(backstop(far, Standing::behind, 1, 1'999'999), 5999999us);
  const model::Queued near{.place = 9, .ahead = 2, .retry_after = 10ms};
  EXPECT_EQ(backstop(near, Standing::behind, 1, 0), 51ms);
}

TEST(Validity, a_crowd_asks_less_often_except_for_its_first) {
  const model::Queued far{.place = 9, .ahead = 5, .retry_after = 1h};
  EXPECT_EQ(backstop(far, Standing::behind, 2'000, 0), 4s);
  EXPECT_EQ(backstop(far, Standing::behind, 10'000, 0), 32s);
  EXPECT_EQ(backstop(far, Standing::behind, 1'000'000, 0), 32s);
  EXPECT_EQ(backstop(far, Standing::first, 10'000, 0), 800ms);
}

}  // namespace
}  // namespace holdfast::client
