// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class Upgrade : public ClientTest {
 public:
  bool is_shared() const { return seen("page").holders.at(0).permits == 1; }
  Running<Result<void>> upgrade(const std::shared_ptr<client::HeldLease>& lease, Duration wait,
                                std::stop_token stop = {}) {
    Running<Result<void>> upgrading(lease->convert(all_permits, wait, std::move(stop)));
    runtime->run();
    return upgrading;
  }
};

TEST_F(Upgrade, of_the_only_reader_is_had_at_once_with_a_larger_fence) {
  auto lease = value_of(mine.api.read_write("page").acquire_shared());
  const auto fence = lease.fence();
  value_of(lease.upgrade());
  EXPECT_GT(lease.fence(), fence);
  EXPECT_FALSE(is_shared());
  EXPECT_EQ(error_of(other.api.read_write("page").acquire_shared()), Errc::busy);
}

TEST_F(Upgrade, and_downgrade_keep_the_lease_renewed) {
  auto lease = value_of(mine.api.read_write("page").acquire_shared({.ttl = 3s}));
  value_of(lease.upgrade());
  advance(30s);
  const auto fence = lease.fence();
  value_of(lease.downgrade());
  EXPECT_EQ(lease.fence(), fence);
  EXPECT_TRUE(is_shared());
  advance(30s);
  EXPECT_TRUE(lease.valid());
  EXPECT_TRUE(other.api.read_write("page").acquire_shared().has_value());
}

TEST_F(Upgrade, without_a_wait_is_busy_while_others_read_and_the_shared_lease_stays) {
  auto lease = value_of(mine.api.read_write("page").acquire_shared());
  const auto reader = value_of(other.api.read_write("page").acquire_shared());
  EXPECT_EQ(error_of(lease.upgrade()), Errc::busy);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(holders("page"), 2U);
}

TEST_F(Upgrade, two_readers_never_wait_for_each_other_on_a_store_that_cannot_queue) {
  store->set_queues(false);
  mine.line->set_queues(false);
  other.line->set_queues(false);
  const auto lease = hold_shared(mine, "page");
  const auto reader = hold_shared(other, "page");
  auto upgrading = upgrade(lease, 10s);
  auto another = upgrade(reader, 10s);
  EXPECT_EQ(error_of(upgrading.result()), Errc::busy);
  EXPECT_EQ(error_of(another.result()), Errc::busy);
  EXPECT_EQ(holders("page"), 2U);
  lease->abandon();
  reader->abandon();
}

TEST_F(Upgrade, waits_for_the_other_readers_to_leave) {
  const auto lease = hold_shared(mine, "page");
  const auto reader = hold_shared(other, "page");
  auto upgrading = upgrade(lease, 10s);
  EXPECT_FALSE(upgrading.done());
  advance(1s);
  Running<Result<Released>> leaving(reader->release());
  runtime->run();
  EXPECT_TRUE(upgrading.result().has_value());
  EXPECT_FALSE(is_shared());
  lease->abandon();
}

TEST_F(Upgrade, a_second_upgrader_is_busy_at_once) {
  const auto one = hold_shared(mine, "page");
  const auto two = hold_shared(other, "page");
  auto first = upgrade(one, 10s);
  auto second = upgrade(two, 10s);
  EXPECT_EQ(error_of(second.result()), Errc::busy);
  EXPECT_GT(two->remaining(), Micros::zero());
  two->abandon();
  runtime->run();
  EXPECT_TRUE(first.result().has_value());
  one->abandon();
}

TEST_F(Upgrade, a_second_one_of_the_same_lease_is_busy_and_does_not_undo_the_first) {
  const auto lease = hold_shared(mine, "page");
  const auto reader = hold_shared(other, "page");
  auto first = upgrade(lease, 10s);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(error_of(upgrade(lease, 10s, stopped.get_token()).result()), Errc::busy);
  reader->abandon();
  runtime->run();
  EXPECT_TRUE(first.result().has_value());
  EXPECT_FALSE(is_shared());
  lease->abandon();
}

TEST_F(Upgrade, that_timed_out_ends_shared_with_nobody_in_the_queue) {
  const auto lease = hold_shared(mine, "page");
  const auto reader = hold_shared(other, "page");
  auto upgrading = upgrade(lease, 2s);
  advance(2s);
  EXPECT_EQ(error_of(upgrading.result()), Errc::timed_out);
  EXPECT_EQ(waiters("page"), 0U);
  EXPECT_GT(lease->remaining(), Micros::zero());
  reader->abandon();
  advance(1s);
  EXPECT_TRUE(is_shared());
  lease->abandon();
}

TEST_F(Upgrade, cancelled_in_the_moment_it_is_granted_ends_shared) {
  const auto lease = hold_shared(mine, "page");
  const auto reader = hold_shared(other, "page");
  std::stop_source stop;
  auto upgrading = upgrade(lease, 10s, stop.get_token());
  mine.line->delay_notices(200ms);
  reader->abandon();
  advance(100ms);
  ASSERT_FALSE(is_shared()) << "granted in the store, and not told yet";
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(upgrading.result()), Errc::cancelled);
  EXPECT_TRUE(is_shared());
  EXPECT_TRUE(other.api.read_write("page").acquire_shared().has_value());
  lease->abandon();
}

TEST_F(Upgrade, given_up_while_the_store_was_away_ends_shared_when_it_is_back) {
  const auto lease = hold_shared(mine, "page", {.ttl = 6s});
  mine.line->script(Verb::acquire, Fault::lose_reply());
  mine.line->script(Verb::acquire, Fault::refuse());
  auto upgrading = upgrade(lease, 0s);
  advance(client::command_timeout);
  EXPECT_EQ(error_of(upgrading.result()), Errc::outcome_unknown);
  ASSERT_FALSE(is_shared());
  advance(3s);
  EXPECT_TRUE(is_shared()) << "the next renewal saw to it";
  lease->abandon();
}

// The undo of an older, failed upgrade must not end a newer one.
TEST_F(Upgrade, that_succeeds_is_not_undone_by_the_clean_up_of_one_that_failed) {
  const auto lease = hold_shared(mine, "page", {.ttl = 6s});
  mine.line->script(Verb::acquire, Fault::lose_reply());
  mine.line->script(Verb::acquire, Fault::refuse());
  auto failing = upgrade(lease, 0s);
  advance(client::command_timeout);
  ASSERT_EQ(error_of(failing.result()), Errc::outcome_unknown);
  // The next renewal begins to undo it, and gets no answer for a while.
  mine.line->script(Verb::acquire, Fault::lose_request());
  advance(2s);
  auto meanwhile = upgrade(lease, 0s);
  EXPECT_EQ(error_of(meanwhile.result()), Errc::busy) << "it is being converted already";
  advance(1s);
  auto upgrading = upgrade(lease, 0s);
  EXPECT_TRUE(upgrading.result().has_value());
  advance(10s);
  EXPECT_FALSE(is_shared());
  EXPECT_GT(lease->remaining(), 0us);
  lease->abandon();
}

TEST_F(Upgrade, of_a_lease_that_is_exclusive_already_asks_nobody_and_never_ends_shared) {
  const auto lease = hold(mine, "page", model::LockSpec::read_write(), all_permits, {.ttl = 30s});
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_TRUE(upgrade(lease, 5s, stopped.get_token()).result().has_value());
  mine.line->script(Verb::acquire, Fault::refuse(), 10);
  EXPECT_TRUE(upgrade(lease, 0s).result().has_value());
  EXPECT_FALSE(is_shared()) << "its holder still believes to be alone";
  lease->abandon();
}

TEST_F(Upgrade, after_a_downgrade_of_unknown_outcome_asks_the_store) {
  const auto lease = hold(mine, "page", model::LockSpec::read_write(), all_permits, {.ttl = 30s});
  mine.line->script(Verb::acquire, Fault::lose_reply());
  Running<Result<void>> downgrading(lease->convert(1, 0s, {}));
  advance(client::command_timeout);
  EXPECT_EQ(error_of(downgrading.result()), Errc::outcome_unknown);
  ASSERT_TRUE(is_shared());
  const auto reader = hold_shared(other, "page");
  EXPECT_EQ(error_of(upgrade(lease, 0s).result()), Errc::busy) << "a reader came in meanwhile";
  reader->abandon();
  lease->abandon();
}

TEST_F(Upgrade, of_a_lost_lease_is_lost_even_if_the_store_still_has_it) {
  const auto lease = hold_shared(mine, "page", {.ttl = 1s, .renew = false});
  advance(970ms);
  ASSERT_EQ(holders("page"), 1U);
  ASSERT_TRUE(lease->lost().stop_requested());
  EXPECT_EQ(error_of(upgrade(lease, 0s).result()), Errc::lost);
  lease->abandon();
}

TEST_F(Upgrade, of_a_lease_that_the_store_forgot_loses_it) {
  const auto lease = hold_shared(mine, "page");
  store->empty();
  EXPECT_EQ(error_of(upgrade(lease, 1s).result()), Errc::lost);
  EXPECT_TRUE(lease->lost().stop_requested());
  lease->abandon();
}

TEST_F(Upgrade, of_a_released_lease_is_not_held) {
  auto lease = value_of(mine.api.read_write("page").acquire_shared());
  value_of(lease.release());
  EXPECT_EQ(error_of(lease.upgrade()), Errc::not_held);
  EXPECT_EQ(error_of(lease.downgrade()), Errc::not_held);
}

TEST_F(Upgrade, during_which_the_lease_is_released_does_not_succeed) {
  const auto lease = hold_shared(mine, "page");
  const auto reader = hold_shared(other, "page");
  auto upgrading = upgrade(lease, 10s);
  Running<Result<Released>> releasing(lease->release());
  reader->abandon();
  advance(3s);
  EXPECT_EQ(error_of(upgrading.result()), Errc::not_held);
  EXPECT_TRUE(is_free("page"));
}

TEST_F(Upgrade, is_only_for_read_write_locks) {
  auto mutex = mine.take("orders");
  EXPECT_EQ(error_of(mutex.upgrade()), Errc::bad_input);
  EXPECT_EQ(error_of(mutex.downgrade()), Errc::bad_input);
  auto permit = value_of(mine.api.semaphore("pool", 2).acquire());
  EXPECT_EQ(error_of(permit.upgrade()), Errc::bad_input);
  EXPECT_TRUE(mutex.valid());
}

TEST_F(Upgrade, waits_longer_than_the_ttl_since_the_shared_lease_is_renewed_meanwhile) {
  const auto lease = hold_shared(mine, "page", {.ttl = 1s});
  const auto reader = hold_shared(other, "page", {.ttl = 1s});
  auto upgrading = upgrade(lease, 60s);
  advance(30s);
  EXPECT_FALSE(upgrading.done());
  reader->abandon();
  runtime->run();
  EXPECT_TRUE(upgrading.result().has_value());
  lease->abandon();
}

}  // namespace
}  // namespace holdfast::test
