// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/late_acquires.hpp"

#include "backends/remote/withdrawals.hpp"
#include "support/hand_runtime.hpp"

#include <gtest/gtest.h>

namespace holdfast::backends::remote {
namespace {

using namespace std::chrono_literals;

constexpr model::RequestId mine{17};
const LockName late_orders = LockName::make("orders").value();
const OwnerId bert = OwnerId::make("bert").value();
const model::Release withdrawal{bert, mine};
const Meant meant{late_orders, bert, mine};

TEST(LateAcquires, a_release_behind_an_answered_acquire_is_sent_once) {
  LateAcquires late;
  late.sent(meant);
  EXPECT_FALSE(late.settled(meant, true).now);
  EXPECT_FALSE(late.released(late_orders, withdrawal));
}

TEST(LateAcquires, a_release_beside_an_acquire_is_sent_again_when_that_one_is_answered) {
  LateAcquires late;
  late.sent(meant);
  EXPECT_FALSE(late.released(late_orders, withdrawal));
  const auto due = late.settled(meant, true);
  ASSERT_TRUE(due.now);
  EXPECT_EQ(due.now->release.request, mine);
  EXPECT_FALSE(due.and_later);
}

TEST(LateAcquires, a_release_waits_for_every_copy_of_its_acquire) {
  LateAcquires late;
  late.sent(meant);
  late.sent(meant);
  late.released(late_orders, withdrawal);
  EXPECT_FALSE(late.settled(meant, true).now);
  EXPECT_TRUE(late.settled(meant, true).now);
}

TEST(LateAcquires, an_acquire_that_was_never_answered_may_come_at_any_time) {
  LateAcquires late;
  late.sent(meant);
  EXPECT_TRUE(late.settled(meant, false).and_later);
  EXPECT_TRUE(late.released(late_orders, withdrawal)) << "it is sent again later";
  EXPECT_FALSE(late.released(late_orders, withdrawal)) << "that is known already";
  EXPECT_TRUE(late.later(meant));
  late.forget(meant);
  EXPECT_FALSE(late.later(meant));
}

TEST(LateAcquires, a_request_that_is_wanted_anew_is_not_released_again) {
  LateAcquires late;
  late.sent(meant);
  late.settled(meant, false);
  late.released(late_orders, withdrawal);
  late.sent(meant);
  EXPECT_FALSE(late.later(meant));
  EXPECT_FALSE(late.settled(meant, true).now);
}

TEST(LateAcquires, a_release_of_another_name_or_owner_is_not_meant) {
  LateAcquires late;
  late.sent({LockName::make("other").value(), bert, mine});
  late.sent({late_orders, OwnerId::make("ben").value(), mine});
  EXPECT_FALSE(late.released(late_orders, withdrawal));
  EXPECT_FALSE(late.settled({LockName::make("other").value(), bert, mine}, true).now);
  EXPECT_FALSE(late.settled({late_orders, OwnerId::make("ben").value(), mine}, true).now);
}

class WithdrawalsTest : public testing::Test {
 public:
  static model::Command acquire() { return model::LockCommand{{}, model::Acquire{bert, mine}}; }
  static model::Command release() { return model::LockCommand{{}, withdrawal}; }

  std::shared_ptr<test::HandRuntime> runtime = std::make_shared<test::HandRuntime>();
  bool answers = true;
  unsigned sent = 0;
  std::shared_ptr<Withdrawals> withdrawals = std::make_shared<Withdrawals>(
      runtime, [this](store::Request request) -> Task<Result<store::Reply>> {
        withdrawals->sending(request.name, request.command);
        ++sent;
        if (answers) return Task<Result<store::Reply>>(store::Reply{});
        return Task<Result<store::Reply>>(fail(Errc::unavailable, "away"));
      });
};

TEST_F(WithdrawalsTest, go_on_until_a_server_that_was_away_has_answered_twice) {
  const auto end = withdrawals->end_of(late_orders, acquire());
  withdrawals->sending(late_orders, release());
  answers = false;
  end(false);
  EXPECT_EQ(sent, 1U);
  runtime->advance(11s);
  const unsigned in_vain = sent;
  EXPECT_GT(in_vain, 3U);
  answers = true;
  runtime->advance(60s);
  EXPECT_EQ(sent, in_vain + 2);
  EXPECT_TRUE(runtime->settle());
}

TEST_F(WithdrawalsTest, end_when_nobody_ever_answers) {
  const auto end = withdrawals->end_of(late_orders, acquire());
  end(false);
  withdrawals->sending(late_orders, release());
  answers = false;
  runtime->advance(10min);
  EXPECT_LT(sent, 100U);
  EXPECT_TRUE(runtime->settle());
}

}  // namespace
}  // namespace holdfast::backends::remote
