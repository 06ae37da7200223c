// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

TEST(StepRelease, ours_is_released_and_a_second_release_finds_nothing) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  EXPECT_TRUE(must_be<model::Released>(lock.release("anna")).lease);
  must_be<model::NotHeld>(lock.release("anna"));
  EXPECT_TRUE(lock.state.idle());
}

TEST(StepRelease, a_lease_that_ended_is_not_held) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  lock.pass(1s);
  must_be<model::NotHeld>(lock.release("anna"));
}

TEST(StepRelease, what_another_holds_is_left_alone) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "ben"}));
  must_be<model::NotOwner>(lock.release("anna"));
  must_be<model::NotOwner>(lock.release("anna", 0));
  EXPECT_EQ(holders(lock), Owners{"ben"});
}

TEST(StepRelease, a_late_release_of_an_older_request_does_not_end_the_newer_one) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .request = 1}));
  must_be<model::Released>(lock.release("anna", 1));
  granted(lock.acquire({.owner = "anna", .request = 2}));
  must_be<model::NotOwner>(lock.release("anna", 1));
  EXPECT_EQ(holders(lock), Owners{"anna"});
}

TEST(StepRelease, it_leaves_the_queue) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  EXPECT_FALSE(must_be<model::Released>(lock.release("ben")).lease);
  EXPECT_TRUE(lock.state.queue.empty());
  EXPECT_EQ(holders(lock), Owners{"anna"});
}

// What a process sends for a message that nobody in it waits for any more.
TEST(StepRelease, of_what_is_unconfirmed_ends_a_claim_or_a_wait_but_never_a_lease) {
  ModelLock lock(LockSpec::mutex());
  const auto unwanted = [&lock](const char* owner) {
    return lock.apply(
        {lock.state.spec, model::Release{OwnerId::make(owner).value(), model::RequestId{1}, true}});
  };
  granted(lock.acquire({.owner = "anna"}));
  must_be<model::NotOwner>(unwanted("anna"));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  queued(lock.acquire({.owner = "cleo", .wait = true}));
  must_be<model::Released>(unwanted("cleo"));
  EXPECT_EQ(waiters(lock), Owners{"ben"});
  lock.release("anna");
  must_be<model::Released>(unwanted("ben"));
  EXPECT_TRUE(lock.state.idle());
}

TEST(StepRelease, any_request_ends_all_holds_of_the_owner_and_no_others) {
  ModelLock lock(LockSpec::semaphore(3));
  granted(lock.acquire({.owner = "anna", .request = 1}));
  granted(lock.acquire({.owner = "ben", .request = 1}));
  granted(lock.acquire({.owner = "anna", .request = 2}));
  EXPECT_TRUE(must_be<model::Released>(lock.release("anna", 0)).lease);
  EXPECT_EQ(holders(lock), Owners{"ben"});
  must_be<model::NotOwner>(lock.release("anna", 0));
}

// The place may be that of a wait that began after the command was sent.
TEST(StepRelease, any_request_leaves_the_queue_alone) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "ben"}));
  const auto place = queued(lock.acquire({.owner = "anna", .request = 2, .wait = true})).place;
  must_be<model::NotOwner>(lock.release("anna", 0));
  EXPECT_EQ(queued(lock.acquire({.owner = "anna", .request = 2, .wait = true})).place, place);
  must_be<model::Released>(lock.release("ben"));
  EXPECT_EQ(told(lock), Owners{"anna+"});
}

TEST(StepRelease, an_owner_that_holds_and_waits_is_handed_the_lock_that_it_releases) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna", .request = 1}));
  queued(lock.acquire({.owner = "anna", .request = 2, .wait = true}));
  must_be<model::Released>(lock.release_up_to("anna", first.fence));
  EXPECT_EQ(told(lock), Owners{"anna+"});
  must_be<model::NotHeld>(lock.release_up_to("anna", first.fence));
  EXPECT_EQ(holders(lock), Owners{"anna"});
}

TEST(StepRelease, a_late_copy_up_to_a_fence_leaves_the_next_lease_of_the_owner_alone) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna", .request = 1}));
  must_be<model::Released>(lock.release_up_to("anna", first.fence));
  must_be<model::NotHeld>(lock.release_up_to("anna", first.fence));
  const auto next = granted(lock.acquire({.owner = "anna", .request = 2}));
  // Nobody else holds it: the lease that was meant is over.
  must_be<model::NotHeld>(lock.release_up_to("anna", first.fence));
  EXPECT_EQ(holders(lock), Owners{"anna"});
  must_be<model::Released>(lock.release_up_to("anna", next.fence));
  granted(lock.acquire({.owner = "ben"}));
  must_be<model::NotOwner>(lock.release_up_to("anna", next.fence));
}

TEST(StepRelease, up_to_a_fence_it_ends_the_older_leases_of_the_owner_in_one_step) {
  ModelLock lock(LockSpec::semaphore(4));
  granted(lock.acquire({.owner = "anna", .request = 1}));
  granted(lock.acquire({.owner = "ben"}));
  const auto second = granted(lock.acquire({.owner = "anna", .request = 2}));
  granted(lock.acquire({.owner = "anna", .request = 3}));
  must_be<model::Released>(lock.release_up_to("anna", second.fence));
  EXPECT_EQ(holders(lock), (Owners{"ben", "anna"}));
  must_be<model::NotHeld>(lock.release_up_to("anna", second.fence));
}

TEST(StepRelease, re_entries_share_a_fence_and_end_together) {
  ModelLock lock(LockSpec::reentrant());
  const auto first = granted(lock.acquire({.owner = "anna", .request = 1}));
  granted(lock.acquire({.owner = "anna", .request = 2}));
  must_be<model::Released>(lock.release_up_to("anna", first.fence));
  EXPECT_TRUE(lock.state.idle());
}

TEST(StepRelease, an_upgraded_lease_has_a_newer_fence_and_is_left_alone) {
  ModelLock lock(LockSpec::read_write());
  const auto shared = granted(lock.acquire({.owner = "anna", .permits = 1}));
  granted(lock.acquire({.owner = "anna", .request = 2, .permits = all_permits, .converts = 1}));
  must_be<model::NotHeld>(lock.release_up_to("anna", shared.fence));
  EXPECT_EQ(holders(lock), Owners{"anna"});
}

TEST(StepRelease, the_wait_for_an_upgrade_goes_with_its_shared_lease) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = 1}));
  granted(lock.acquire({.owner = "ben", .permits = 1}));
  queued(lock.acquire({.owner = "anna", .request = 2, .wait = true, .converts = 1}));
  must_be<model::Released>(lock.release("anna", 0));
  EXPECT_EQ(holders(lock), Owners{"ben"});
  EXPECT_TRUE(lock.state.queue.empty());
}

TEST(StepRelease, a_fence_does_not_matter_to_a_release_with_a_request) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  must_be<model::Released>(lock.apply(
      {LockSpec::mutex(),
       model::Release{.owner = owner_named("anna"), .request = model::RequestId{1}, .up_to = 1}}));
}

// A waiter that learned of its grant by asking, before the message came, holds it.
TEST(StepRelease, a_claim_that_could_not_be_delivered_is_given_back_unless_it_was_confirmed) {
  const model::Release undelivered{owner_named("ben"), model::RequestId{1}, true};
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  lock.release("anna");
  granted(lock.acquire({.owner = "ben", .wait = true}));
  must_be<model::NotOwner>(lock.apply({LockSpec::mutex(), undelivered}));
  EXPECT_EQ(holders(lock), Owners{"ben"});
}

TEST(StepRelease, a_claim_that_could_not_be_delivered_passes_on) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  queued(lock.acquire({.owner = "cleo", .wait = true}));
  lock.release("anna");
  const model::Release undelivered{owner_named("ben"), model::RequestId{1}, true};
  must_be<model::Released>(lock.apply({LockSpec::mutex(), undelivered}));
  EXPECT_EQ(told(lock), Owners{"cleo+"});
}

TEST(StepForceRelease, it_ends_every_lease_and_raises_the_fence) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = 1}));
  const auto last = granted(lock.acquire({.owner = "ben", .permits = 1}));
  const auto forced = must_be<model::Forced>(lock.force_release());
  EXPECT_EQ(forced.count, 2U);
  EXPECT_GT(forced.fence, last.fence);
  EXPECT_TRUE(lock.state.idle());
  must_be<model::NotHeld>(lock.renew("anna"));
  EXPECT_GT(granted(lock.acquire({.owner = "cleo"})).fence, forced.fence);
}

TEST(StepForceRelease, it_serves_the_next_in_line) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  const auto forced = must_be<model::Forced>(lock.force_release());
  ASSERT_EQ(told(lock), Owners{"ben+"});
  EXPECT_GT(lock.messages[0].grant->fence, forced.fence);
  must_be<model::NotOwner>(lock.renew("anna"));
}

TEST(StepForceRelease, a_repeated_one_leaves_the_next_holder_alone) {
  ModelLock lock(LockSpec::mutex());
  const model::ForceRelease seen{.up_to = granted(lock.acquire({.owner = "anna"})).fence};
  queued(lock.acquire({.owner = "ben", .wait = true}));
  must_be<model::Forced>(lock.apply({LockSpec::mutex(), seen}));
  must_be<model::NotOwner>(lock.apply({LockSpec::mutex(), seen}));
  EXPECT_EQ(holders(lock), Owners{"ben"});
}

TEST(StepForceRelease, what_nobody_holds_is_not_held) {
  ModelLock lock(LockSpec::mutex());
  must_be<model::NotHeld>(lock.force_release());
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  lock.pass(1s);
  must_be<model::NotHeld>(lock.force_release());
}

TEST(StepForceRelease, it_needs_no_matching_spec) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire_as(LockSpec::semaphore(5), {.owner = "anna"}));
  EXPECT_EQ(must_be<model::Forced>(lock.force_release()).count, 1U);
}

TEST(StepForceRelease, with_a_source_it_ends_only_the_leases_that_name_it) {
  ModelLock lock(LockSpec::semaphore(5));
  granted(lock.acquire({.owner = "anna", .source = "execution-7"}));
  granted(lock.acquire({.owner = "ben", .source = "execution-8"}));
  granted(lock.acquire({.owner = "cleo", .source = "execution-7"}));
  granted(lock.acquire({.owner = "dora"}));
  auto without_metadata = to_command(Kind::semaphore, {.owner = "emil"});
  without_metadata.metadata = nullptr;
  granted(lock.apply({LockSpec::semaphore(5), without_metadata}));
  const auto force = [&](std::string source) {
    return lock.apply({LockSpec::semaphore(5), model::ForceRelease{.source = std::move(source)}});
  };
  must_be<model::NotOwner>(force("execution-"));
  must_be<model::NotOwner>(force("execution-77"));
  EXPECT_EQ(must_be<model::Forced>(force("execution-7")).count, 2U);
  EXPECT_EQ(holders(lock), (Owners{"ben", "dora", "emil"}));
  must_be<model::NotOwner>(force("execution-7"));
  EXPECT_EQ(must_be<model::Forced>(force("")).count, 3U);
  must_be<model::NotHeld>(force("execution-8"));
}

TEST(StepForceRelease, a_source_and_a_fence_must_both_fit) {
  ModelLock lock(LockSpec::semaphore(5));
  const auto first = granted(lock.acquire({.owner = "anna", .source = "s"})).fence;
  granted(lock.acquire({.owner = "ben", .source = "s"}));
  const model::ForceRelease force{.up_to = first, .source = "s"};
  EXPECT_EQ(must_be<model::Forced>(lock.apply({LockSpec::semaphore(5), force})).count, 1U);
  EXPECT_EQ(holders(lock), Owners{"ben"});
}

TEST(StepForceRelease, with_a_source_it_serves_the_next_in_line_whatever_that_one_names) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .source = "s"}));
  queued(lock.acquire({.owner = "ben", .wait = true, .source = "s"}));
  const model::ForceRelease force{.source = "s"};
  must_be<model::Forced>(lock.apply({LockSpec::mutex(), force}));
  EXPECT_EQ(told(lock), Owners{"ben+"});
}

TEST(StepForceRelease, a_waiting_upgrade_goes_with_its_shared_hold) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = 1}));
  granted(lock.acquire({.owner = "ben", .permits = 1}));
  queued(lock.acquire({.owner = "anna", .request = 2, .wait = true, .converts = 1}));
  must_be<model::Forced>(lock.force_release());
  EXPECT_TRUE(lock.state.idle());
  EXPECT_TRUE(lock.messages.empty());
}

}  // namespace
}  // namespace holdfast::test
