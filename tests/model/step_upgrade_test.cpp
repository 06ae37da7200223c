// SPDX-License-Identifier: Apache-2.0
#include "read_write_asks.hpp"
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

constexpr std::uint64_t read_request = 1;
constexpr std::uint64_t upgrade_request = 2;

Ask upgrade_of(std::string_view owner, bool wait = false) {
  return {.owner = owner,
          .request = upgrade_request,
          .permits = all_permits,
          .wait = wait,
          .converts = read_request};
}
Ask downgrade_of(std::string_view owner) {
  return {.owner = owner, .request = 3, .permits = 1, .converts = read_request};
}

TEST(StepUpgrade, a_lone_reader_becomes_the_writer_at_once_with_a_higher_fence) {
  ModelLock lock(LockSpec::read_write());
  const auto shared = granted(lock.acquire(reader("anna")));
  const auto exclusive = granted(lock.acquire(upgrade_of("anna")));
  EXPECT_GT(exclusive.fence, shared.fence);
  EXPECT_EQ(lock.state.holds.size(), 1U);
  busy(lock.acquire(reader("ben")));
}

// Found by the simulator: a writer believed in its lock while the store let readers in.
TEST(StepUpgrade, a_late_copy_of_an_older_downgrade_leaves_a_newer_upgrade_alone) {
  ModelLock lock(LockSpec::read_write());
  const auto shared = granted(lock.acquire(reader("anna")));
  Ask upgrade = upgrade_of("anna");
  upgrade.known = shared.fence;
  const auto exclusive = granted(lock.acquire(upgrade));
  Ask downgrade = downgrade_of("anna");
  downgrade.known = exclusive.fence;
  granted(lock.acquire(downgrade));
  Ask again = upgrade_of("anna");
  again.request = 4;
  again.known = exclusive.fence;
  const auto newer = granted(lock.acquire(again));
  EXPECT_EQ(must_be<model::Refused>(lock.acquire(downgrade)).error.code, Errc::busy);
  busy(lock.acquire(reader("ben")));
  downgrade.known = newer.fence;
  granted(lock.acquire(downgrade));
  EXPECT_EQ(must_be<model::Refused>(lock.acquire(upgrade)).error.code, Errc::busy);
  granted(lock.acquire(reader("ben")));
}

TEST(StepUpgrade, a_downgrade_that_is_overtaken_by_the_next_upgrade_comes_too_late) {
  ModelLock lock(LockSpec::read_write());
  const auto shared = granted(lock.acquire(reader("anna")));
  Ask upgrade = upgrade_of("anna");
  upgrade.known = shared.fence;
  const auto exclusive = granted(lock.acquire(upgrade));
  EXPECT_EQ(granted(lock.acquire(upgrade)).fence, exclusive.fence) << "repeated";
  Ask downgrade = downgrade_of("anna");
  downgrade.known = exclusive.fence;
  Ask again = upgrade_of("anna");
  again.request = 4;
  again.known = exclusive.fence;
  EXPECT_GT(granted(lock.acquire(again)).fence, exclusive.fence);
  must_be<model::Refused>(lock.acquire(downgrade));
  busy(lock.acquire(reader("ben")));
}

// A store that came back from an older copy of its data knows an older fence than the holder.
TEST(StepUpgrade, after_a_roll_back_an_upgrade_gets_a_new_fence) {
  ModelLock lock(LockSpec::read_write());
  const auto shared = granted(lock.acquire(reader("anna")));
  Ask upgrade = upgrade_of("anna");
  upgrade.known = shared.fence;
  granted(lock.acquire(upgrade));
  const auto snapshot = lock.state;
  Ask downgrade = downgrade_of("anna");
  downgrade.known = snapshot.holds[0].fence;
  granted(lock.acquire(downgrade));
  Ask again = upgrade_of("anna");
  again.request = 4;
  again.known = snapshot.holds[0].fence;
  const auto newer = granted(lock.acquire(again));
  lock.state = snapshot;
  Ask last = upgrade_of("anna");
  last.request = 5;
  last.known = newer.fence;
  EXPECT_GT(granted(lock.acquire(last)).fence, newer.fence);
}

TEST(StepUpgrade, after_a_roll_back_a_downgrade_is_not_taken_for_a_late_copy) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(upgrade_of("anna")));
  Ask downgrade = downgrade_of("anna");
  downgrade.known = lock.state.holds[0].fence + 1000;
  granted(lock.acquire(downgrade));
  granted(lock.acquire(reader("ben")));
}

TEST(StepUpgrade, the_hold_keeps_its_request) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(upgrade_of("anna")));
  granted(lock.renew("anna", read_request));
  must_be<model::Released>(lock.release("anna", read_request));
  EXPECT_TRUE(lock.state.idle());
}

TEST(StepUpgrade, a_repeated_upgrade_is_told_the_same_fence) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  const auto first = granted(lock.acquire(upgrade_of("anna")));
  const auto again = granted(lock.acquire(upgrade_of("anna")));
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_EQ(lock.state.holds.size(), 1U);
}

TEST(StepUpgrade, beside_other_readers_a_try_is_busy_and_keeps_the_shared_hold) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(reader("ben")));
  busy(lock.acquire(upgrade_of("anna")));
  EXPECT_EQ(holders(lock), (Owners{"anna", "ben"}));
  EXPECT_TRUE(lock.state.queue.empty());
}

TEST(StepUpgrade, it_waits_before_everybody_else_and_is_served_when_the_last_other_reader_leaves) {
  ModelLock lock(LockSpec::read_write());
  const auto shared = granted(lock.acquire(reader("anna")));
  granted(lock.acquire(reader("ben")));
  queued(lock.acquire({.owner = "cleo", .permits = all_permits, .wait = true}));
  EXPECT_EQ(queued(lock.acquire(upgrade_of("anna", true))).ahead, 0U);
  busy(lock.acquire(reader("dora")));
  lock.release("ben");
  ASSERT_EQ(told(lock), Owners{"anna+"});
  EXPECT_EQ(lock.messages[0].request, model::RequestId{upgrade_request});
  EXPECT_GT(lock.messages[0].grant->fence, shared.fence);
  EXPECT_EQ(lock.state.holds[0].permits, all_permits);
  EXPECT_EQ(waiters(lock), Owners{"cleo"});
}

TEST(StepUpgrade, a_waiting_upgrade_keeps_its_own_lease_and_needs_no_confirmation) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(reader("ben")));
  queued(lock.acquire(upgrade_of("anna", true)));
  lock.release("ben");
  EXPECT_FALSE(lock.state.holds[0].claimed);
  EXPECT_EQ(lock.messages[0].grant->lease, 10s);
}

TEST(StepUpgrade, only_one_holder_may_wait_for_it) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(reader("ben")));
  queued(lock.acquire(upgrade_of("anna", true)));
  busy(lock.acquire(upgrade_of("ben", true)));
  must_be<model::Released>(lock.release("anna", upgrade_request));
  queued(lock.acquire(upgrade_of("ben", true)));
}

TEST(StepUpgrade, giving_up_the_wait_keeps_the_shared_hold) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(reader("ben")));
  queued(lock.acquire(upgrade_of("anna", true)));
  must_be<model::Released>(lock.release("anna", upgrade_request));
  EXPECT_EQ(holders(lock), (Owners{"anna", "ben"}));
  granted(lock.acquire(reader("cleo")));
}

TEST(StepUpgrade, releasing_the_shared_hold_ends_the_wait_too) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(reader("ben")));
  queued(lock.acquire(upgrade_of("anna", true)));
  must_be<model::Released>(lock.release("anna", read_request));
  EXPECT_TRUE(lock.state.queue.empty());
  granted(lock.acquire(reader("cleo")));
}

TEST(StepUpgrade, a_hold_that_expired_cannot_be_upgraded) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = 1, .ttl = 1s}));
  lock.pass(2s);
  must_be<model::NotHeld>(lock.acquire(upgrade_of("anna")));
  granted(lock.acquire(reader("ben")));
  must_be<model::NotOwner>(lock.acquire(upgrade_of("anna", true)));
  EXPECT_TRUE(lock.state.queue.empty());
}

TEST(StepUpgrade, a_wait_whose_shared_hold_expired_is_forgotten) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = 1, .ttl = 1s}));
  granted(lock.acquire(reader("ben")));
  queued(lock.acquire(upgrade_of("anna", true)));
  lock.pass(2s);
  granted(lock.acquire(reader("cleo")));
  must_be<model::NotOwner>(lock.acquire(upgrade_of("anna", true)));
}

TEST(StepUpgrade, a_wait_whose_shared_hold_expired_is_not_in_the_way_of_the_next_upgrade) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = 1, .ttl = 1s}));
  granted(lock.acquire(reader("ben")));
  queued(lock.acquire(upgrade_of("anna", true)));
  lock.pass(2s);
  granted(lock.acquire(upgrade_of("ben")));
}

TEST(StepUpgrade, a_wait_whose_shared_hold_expired_does_not_bind_the_name) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = 1, .ttl = 1s}));
  granted(lock.acquire({.owner = "ben", .permits = 1, .ttl = 1s}));
  queued(lock.acquire(upgrade_of("anna", true)));
  lock.pass(2s);
  granted(lock.acquire_as(LockSpec::semaphore(3), {.owner = "cleo"}));
}

TEST(StepUpgrade, the_wait_may_bear_the_request_of_the_hold) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire(reader("ben")));
  Ask upgrade = upgrade_of("anna", true);
  upgrade.request = read_request;
  queued(lock.acquire(upgrade));
  lock.release("ben");
  EXPECT_EQ(lock.state.holds[0].permits, all_permits);
  granted(lock.acquire(upgrade));
}

TEST(StepUpgrade, a_request_that_means_something_else_already_is_refused) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire({.owner = "anna", .request = 5, .permits = 1}));
  Ask upgrade = upgrade_of("anna", true);
  upgrade.request = 5;
  EXPECT_EQ(refused(lock.acquire(upgrade)), Errc::bad_input);
  EXPECT_TRUE(lock.state.queue.empty());
}

TEST(StepUpgrade, a_plain_acquire_under_the_request_of_a_waiting_upgrade_is_refused) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire(reader("anna")));
  granted(lock.acquire({.owner = "ben", .permits = 1, .ttl = 1s}));
  queued(lock.acquire(upgrade_of("anna", true)));
  lock.pass(2s);
  const auto outcome = lock.acquire({.owner = "anna", .request = upgrade_request, .wait = true});
  EXPECT_EQ(refused(outcome), Errc::bad_input);
}

TEST(StepDowngrade, it_never_waits_keeps_the_fence_and_lets_waiting_readers_in) {
  ModelLock lock(LockSpec::read_write());
  const auto exclusive = granted(lock.acquire({.owner = "anna", .permits = all_permits}));
  queued(lock.acquire({.owner = "ben", .permits = 1, .wait = true}));
  EXPECT_EQ(granted(lock.acquire(downgrade_of("anna"))).fence, exclusive.fence);
  EXPECT_EQ(told(lock), Owners{"ben+"});
  EXPECT_EQ(holders(lock), (Owners{"anna", "ben"}));
}

TEST(StepDowngrade, repeated_it_changes_nothing) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = all_permits, .ttl = 10s}));
  granted(lock.acquire(downgrade_of("anna")));
  lock.pass(1s);
  EXPECT_EQ(granted(lock.acquire(downgrade_of("anna"))).remaining, 9s);
  EXPECT_EQ(lock.state.holds.size(), 1U);
}

TEST(StepDowngrade, a_writer_at_the_head_goes_on_waiting) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = all_permits}));
  queued(lock.acquire({.owner = "ben", .permits = all_permits, .wait = true}));
  granted(lock.acquire(downgrade_of("anna")));
  EXPECT_EQ(waiters(lock), Owners{"ben"});
  EXPECT_TRUE(lock.messages.empty());
}

TEST(StepDowngrade, what_is_not_held_cannot_be_downgraded) {
  ModelLock lock(LockSpec::read_write());
  must_be<model::NotHeld>(lock.acquire(downgrade_of("anna")));
  granted(lock.acquire({.owner = "ben", .permits = all_permits}));
  must_be<model::NotOwner>(lock.acquire(downgrade_of("anna")));
}

}  // namespace
}  // namespace holdfast::test
