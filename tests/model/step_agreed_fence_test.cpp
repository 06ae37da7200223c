// SPDX-License-Identifier: Apache-2.0
//
// A renewal that tells the store a fence on which several stores have agreed.
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

TEST(StepAgreedFence, the_lease_has_it_from_then_on) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna"})).fence;
  EXPECT_EQ(granted(lock.agree("anna", first + 1000)).fence, first + 1000);
  EXPECT_EQ(lock.seen().holders.at(0).fence, first + 1000);
  EXPECT_EQ(granted(lock.renew("anna")).fence, first + 1000);
  EXPECT_EQ(granted(lock.acquire({.owner = "anna"})).fence, first + 1000) << "a repetition";
}

TEST(StepAgreedFence, every_later_fence_is_larger) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna"})).fence;
  granted(lock.agree("anna", first + 1000));
  EXPECT_EQ(lock.fences.last(), first + 1000);
  lock.release("anna");
  EXPECT_EQ(granted(lock.acquire({.owner = "ben"})).fence, first + 1001);
}

TEST(StepAgreedFence, it_counts_even_where_nobody_holds_anything) {
  ModelLock lock(LockSpec::mutex());
  const Fence agreed = lock.wall_us + 1'000'000;
  must_be<model::NotHeld>(lock.agree("anna", agreed));
  EXPECT_TRUE(lock.state.idle());
  EXPECT_EQ(granted(lock.acquire({.owner = "ben"})).fence, agreed + 1);
}

TEST(StepAgreedFence, it_counts_where_another_holds_it_and_changes_nothing_for_that_one) {
  ModelLock lock(LockSpec::mutex());
  const auto bens = granted(lock.acquire({.owner = "ben", .ttl = 10s})).fence;
  must_be<model::NotOwner>(lock.agree("anna", bens + 1000));
  EXPECT_EQ(lock.seen().holders.at(0).fence, bens);
  EXPECT_EQ(lock.fences.last(), bens + 1000);
}

TEST(StepAgreedFence, the_counter_never_goes_back) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna"})).fence;
  EXPECT_EQ(granted(lock.agree("anna", first - 5)).fence, first - 5);
  EXPECT_EQ(lock.fences.last(), first);
}

TEST(StepAgreedFence, none_changes_nothing) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna"})).fence;
  EXPECT_EQ(granted(lock.agree("anna", 0)).fence, first);
  EXPECT_EQ(lock.fences.last(), first);
  must_be<model::NotOwner>(lock.agree("ben", 0));
  EXPECT_EQ(lock.fences.last(), first);
}

TEST(StepAgreedFence, re_entries_share_it) {
  ModelLock lock(LockSpec::reentrant());
  const auto first = granted(lock.acquire({.owner = "anna", .request = 1})).fence;
  granted(lock.acquire({.owner = "anna", .request = 2}));
  EXPECT_EQ(granted(lock.agree("anna", first + 9, 2)).fence, first + 9);
  EXPECT_EQ(granted(lock.renew("anna", 1)).fence, first + 9);
  EXPECT_EQ(granted(lock.acquire({.owner = "anna", .request = 3})).fence, first + 9);
}

TEST(StepAgreedFence, an_unknown_re_entry_leaves_the_others_as_they_are) {
  ModelLock lock(LockSpec::reentrant());
  const auto first = granted(lock.acquire({.owner = "anna", .request = 1})).fence;
  must_be<model::NotOwner>(lock.agree("anna", first + 9, 2));
  EXPECT_EQ(granted(lock.renew("anna", 1)).fence, first);
}

TEST(StepAgreedFence, other_leases_beside_it_keep_theirs) {
  ModelLock lock(LockSpec::read_write());
  const auto annas = granted(lock.acquire({.owner = "anna", .request = 1, .permits = 1})).fence;
  const auto again = granted(lock.acquire({.owner = "anna", .request = 2, .permits = 1})).fence;
  const auto bens = granted(lock.acquire({.owner = "ben", .request = 1, .permits = 1})).fence;
  EXPECT_EQ(granted(lock.agree("anna", bens + 7, 1)).fence, bens + 7);
  EXPECT_NE(annas, bens + 7);
  EXPECT_EQ(granted(lock.renew("anna", 2)).fence, again);
  EXPECT_EQ(granted(lock.renew("ben", 1)).fence, bens);
}

// Stores count each for itself: one of them minted for ben what others minted for anna.
TEST(StepAgreedFence, two_readers_may_be_told_the_same) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = 1}));
  const auto bens = granted(lock.acquire({.owner = "ben", .permits = 1})).fence;
  EXPECT_EQ(granted(lock.agree("anna", bens)).fence, bens);
  EXPECT_EQ(granted(lock.renew("ben")).fence, bens);
  lock.release("ben");
  EXPECT_GT(granted(lock.acquire({.owner = "cleo", .permits = 1})).fence, bens);
}

TEST(StepAgreedFence, it_renews_like_any_other_and_never_shortens) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna", .ttl = 10s})).fence;
  lock.pass(4s);
  EXPECT_EQ(granted(lock.agree("anna", first + 1, 1, 20ms)).remaining, 6s);
  EXPECT_EQ(granted(lock.agree("anna", first + 1, 1, 30s)).remaining, 30s);
}

TEST(StepAgreedFence, a_late_copy_after_the_lease_has_ended_only_raises_the_counter) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna", .ttl = 1s})).fence;
  lock.pass(1s);
  const Fence agreed = first + 5'000'000;
  must_be<model::NotHeld>(lock.agree("anna", agreed));
  EXPECT_GT(granted(lock.acquire({.owner = "ben"})).fence, agreed);
}

TEST(StepAgreedFence, the_largest_one_leaves_room_for_more) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  EXPECT_EQ(granted(lock.agree("anna", model::limits::max_agreed_fence)).fence,
            model::limits::max_agreed_fence);
  lock.release("anna");
  EXPECT_EQ(granted(lock.acquire({.owner = "ben"})).fence, model::limits::max_agreed_fence + 1);
}

// A fence that is proposed, and that no other grant may have.
model::LockOutcome propose(ModelLock& lock, std::string_view owner, Fence fence,
                           std::uint64_t request = 1) {
  return lock.apply({lock.state.spec, model::Renew{owner_named(owner), model::RequestId{request},
                                                   20ms, fence, true}});
}

TEST(StepProposedFence, is_taken_where_the_counter_has_not_reached_it) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna"})).fence;
  EXPECT_EQ(granted(propose(lock, "anna", first + 5)).fence, first + 5);
  EXPECT_EQ(lock.fences.last(), first + 5);
  EXPECT_EQ(lock.seen().holders.at(0).fence, first + 5);
}

TEST(StepProposedFence, is_kept_by_the_lease_that_has_it) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna"})).fence;
  EXPECT_EQ(granted(propose(lock, "anna", first)).fence, first) << "minted";
  EXPECT_EQ(granted(propose(lock, "anna", first + 5)).fence, first + 5);
  EXPECT_EQ(granted(propose(lock, "anna", first + 5)).fence, first + 5) << "a late copy";
  EXPECT_EQ(lock.fences.last(), first + 5);
}

TEST(StepProposedFence, that_the_counter_has_passed_gives_the_lease_a_new_one) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna"})).fence;
  lock.fences.raise_to(first + 5);  // some other name of this store
  EXPECT_EQ(granted(propose(lock, "anna", first + 5)).fence, first + 6);
  EXPECT_EQ(lock.fences.last(), first + 6);
  EXPECT_EQ(granted(propose(lock, "anna", first + 3)).fence, first + 6) << "a late copy";
  EXPECT_EQ(lock.fences.last(), first + 6);
}

TEST(StepProposedFence, that_was_agreed_upon_meanwhile_is_no_reason_for_a_new_one) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna"})).fence;
  granted(lock.agree("anna", first + 9));
  EXPECT_EQ(granted(propose(lock, "anna", first + 4)).fence, first + 9);
}

TEST(StepProposedFence, of_nobody_only_raises_the_counter) {
  ModelLock lock(LockSpec::mutex());
  const auto first = granted(lock.acquire({.owner = "anna"})).fence;
  must_be<model::NotOwner>(propose(lock, "ben", first + 5));
  EXPECT_EQ(lock.fences.last(), first + 5);
  must_be<model::NotOwner>(propose(lock, "ben", first + 5));
  EXPECT_EQ(lock.fences.last(), first + 5);
  EXPECT_EQ(lock.seen().holders.at(0).fence, first);
}

TEST(StepProposedFence, is_shared_by_re_entries_also_where_it_is_a_new_one) {
  ModelLock lock(LockSpec::reentrant());
  const auto first = granted(lock.acquire({.owner = "anna", .request = 1})).fence;
  granted(lock.acquire({.owner = "anna", .request = 2}));
  EXPECT_EQ(granted(propose(lock, "anna", first, 2)).fence, first);
  lock.fences.raise_to(first + 5);
  EXPECT_EQ(granted(propose(lock, "anna", first + 5, 2)).fence, first + 6);
  EXPECT_EQ(granted(lock.renew("anna", 1)).fence, first + 6);
}

TEST(StepProposedFence, of_one_reader_is_not_that_of_another) {
  ModelLock lock(LockSpec::read_write());
  granted(lock.acquire({.owner = "anna", .permits = 1}));
  const auto bens = granted(lock.acquire({.owner = "ben", .permits = 1})).fence;
  EXPECT_EQ(granted(propose(lock, "anna", bens)).fence, bens + 1);
  EXPECT_EQ(granted(lock.renew("ben")).fence, bens);
}

}  // namespace
}  // namespace holdfast::test
