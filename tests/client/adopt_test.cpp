// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class Adopt : public ClientTest {};

TEST_F(Adopt, a_detached_lock_is_released_from_elsewhere_by_its_owner) {
  const OwnerId owner = mine.take("orders").detach();
  auto adopted = value_of(other.api.adopt("orders", owner.str()));
  EXPECT_EQ(adopted.owner(), owner);
  EXPECT_TRUE(adopted.valid());
  EXPECT_EQ(value_of(adopted.release()), Released::released);
  EXPECT_TRUE(is_free("orders"));
}

TEST_F(Adopt, keeps_the_fence_and_what_is_left_of_the_lease) {
  auto lease = mine.take("orders", {.ttl = 10s});
  const Fence fence = lease.fence();
  const OwnerId owner = lease.detach();
  advance(4s);
  auto adopted = value_of(other.api.adopt("orders", owner.str()));
  EXPECT_EQ(adopted.fence(), fence);
  EXPECT_LE(adopted.remaining(), 6s);
  EXPECT_GT(adopted.remaining(), 5900ms);
  adopted.detach();
  advance(6s);
}

TEST_F(Adopt, is_not_renewed_and_is_lost_when_it_ends) {
  const OwnerId owner = mine.take("orders", {.ttl = 10s}).detach();
  const auto adopted = value_of(other.api.adopt("orders", owner.str()));
  advance(10s);
  EXPECT_TRUE(adopted.lost().stop_requested());
  EXPECT_EQ(other.line->count(Verb::renew), 0U);
}

TEST_F(Adopt, can_extend) {
  const OwnerId owner = mine.take("orders", {.ttl = 10s}).detach();
  auto adopted = value_of(other.api.adopt("orders", owner.str()));
  value_of(adopted.extend(60s));
  EXPECT_GT(adopted.remaining(), 59s);
  advance(30s);
  EXPECT_TRUE(adopted.valid());
}

TEST_F(Adopt, covers_every_entry_of_a_reentrant_lock) {
  auto lock = mine.api.reentrant("tree");
  value_of(lock.acquire({.owner = "me"})).detach();
  value_of(lock.acquire({.owner = "me"})).detach();
  EXPECT_EQ(holders("tree"), 2U);
  auto adopted = value_of(other.api.adopt("tree", "me"));
  EXPECT_EQ(value_of(adopted.release()), Released::released);
  EXPECT_TRUE(is_free("tree"));
}

// The owner is the user's own, and is used again.
TEST_F(Adopt, a_late_copy_of_its_release_leaves_the_next_lease_of_the_owner_alone) {
  mine.take("orders", {.owner = "job-17"}).detach();
  auto adopted = value_of(other.api.adopt("orders", "job-17"));
  EXPECT_EQ(value_of(adopted.release()), Released::released);
  auto next = mine.take("orders", {.owner = "job-17"});
  other.line->send_again(other.line->history(Verb::release).front());
  advance(1s);
  EXPECT_EQ(holders("orders"), 1U);
  advance(30s);
  EXPECT_FALSE(next.lost().stop_requested());
  EXPECT_EQ(value_of(next.release()), Released::released);
}

TEST_F(Adopt, a_late_copy_of_its_release_leaves_the_place_of_the_owner_in_the_queue_alone) {
  mine.take("orders", {.owner = "job-17"}).detach();
  value_of(value_of(other.api.adopt("orders", "job-17")).release());
  auto blocks = other.take("orders");
  auto waits = mine.acquire("orders", {.wait = 10s, .owner = "job-17"});
  ASSERT_EQ(waiters("orders"), 1U);
  other.line->send_again(other.line->history(Verb::release).front());
  advance(10ms);
  EXPECT_EQ(waiters("orders"), 1U);
  value_of(blocks.release());
  advance(10ms);
  EXPECT_EQ(value_of(waits.result()->release()), Released::released);
}

TEST_F(Adopt, ends_only_what_was_there_when_it_was_adopted) {
  auto gpus = mine.api.semaphore("gpus", 3);
  value_of(gpus.acquire({.owner = "me"})).detach();
  value_of(gpus.acquire({.owner = "me"})).detach();
  auto adopted = value_of(other.api.adopt("gpus", "me"));
  auto dropped = value_of(other.api.adopt("gpus", "me"));
  auto next = value_of(gpus.acquire({.owner = "me"}));
  EXPECT_EQ(value_of(adopted.release()), Released::released);
  EXPECT_EQ(holders("gpus"), 1U);
  {
    const auto gone = std::move(dropped);
  }
  advance(10ms);
  EXPECT_EQ(holders("gpus"), 1U) << "the destructor releases no more than that";
  EXPECT_EQ(value_of(next.release()), Released::released);
}

TEST_F(Adopt, after_an_extension_stands_for_what_the_owner_holds_by_then) {
  auto gpus = mine.api.semaphore("gpus", 3);
  value_of(gpus.acquire({.owner = "me"})).detach();
  auto adopted = value_of(other.api.adopt("gpus", "me"));
  auto next = value_of(gpus.acquire({.owner = "me"}));
  const Fence newer = next.fence();
  next.detach();
  EXPECT_LT(adopted.fence(), newer);
  value_of(adopted.extend(60s));
  EXPECT_EQ(adopted.fence(), newer);
  EXPECT_EQ(value_of(adopted.release()), Released::released);
  EXPECT_TRUE(is_free("gpus"));
}

TEST_F(Adopt, up_to_a_fence_stays_so_after_an_extension) {
  auto gpus = mine.api.semaphore("gpus", 3);
  auto first = value_of(gpus.acquire({.owner = "me"}));
  const Fence older = first.fence();
  first.detach();
  auto next = value_of(gpus.acquire({.owner = "me"}));
  auto adopted = value_of(other.api.adopt("gpus", "me", older));
  value_of(adopted.extend(60s));
  EXPECT_EQ(adopted.fence(), older);
  EXPECT_EQ(value_of(adopted.release()), Released::released);
  EXPECT_EQ(holders("gpus"), 1U);
  EXPECT_EQ(value_of(next.release()), Released::released);
}

TEST_F(Adopt, up_to_a_fence_leaves_newer_leases_of_the_owner_alone) {
  auto gpus = mine.api.semaphore("gpus", 3);
  auto first = value_of(gpus.acquire({.owner = "me"}));
  const Fence older = first.fence();
  first.detach();
  auto next = value_of(gpus.acquire({.owner = "me"}));
  auto adopted = value_of(other.api.adopt("gpus", "me", older));
  EXPECT_EQ(adopted.fence(), older);
  EXPECT_EQ(value_of(adopted.release()), Released::released);
  EXPECT_EQ(holders("gpus"), 1U);
  EXPECT_EQ(error_of(other.api.adopt("gpus", "me", older)), Errc::not_held);
  EXPECT_EQ(error_of(other.api.adopt("gpus", "you", older)), Errc::not_owner);
  EXPECT_EQ(value_of(other.api.adopt("gpus", "me", next.fence() + 1)).fence(), next.fence());
  EXPECT_TRUE(is_free("gpus")) << "given back by its destructor";
  advance(30s);
  EXPECT_TRUE(next.lost().stop_requested());
}

TEST_F(Adopt, of_what_nobody_or_somebody_else_holds_says_which) {
  EXPECT_EQ(error_of(mine.api.adopt("orders", "me")), Errc::not_held);
  const auto lease = other.take("orders");
  EXPECT_EQ(error_of(mine.api.adopt("orders", "me")), Errc::not_owner);
  EXPECT_EQ(error_of(mine.api.adopt("orders", "")), Errc::bad_input);
  EXPECT_EQ(error_of(mine.api.adopt("", "me")), Errc::bad_input);
  EXPECT_TRUE(lease.valid());
}

TEST_F(Adopt, while_the_first_handle_still_lives_ends_that_one_at_its_next_renewal) {
  const auto lease = mine.take("orders", {.ttl = 30s});
  auto adopted = value_of(other.api.adopt("orders", lease.owner().str()));
  value_of(adopted.release());
  advance(10s);
  EXPECT_TRUE(lease.lost().stop_requested());
}

TEST_F(Adopt, detach_stops_the_renewal_and_keeps_the_lock_until_its_ttl_ends) {
  auto lease = mine.take("orders", {.ttl = 6s});
  advance(3s);
  const auto sent = mine.line->count(Verb::renew);
  lease.detach();
  advance(4s);
  EXPECT_EQ(holders("orders"), 1U);
  advance(3s);
  EXPECT_TRUE(is_free("orders"));
  EXPECT_EQ(mine.line->count(Verb::renew), sent);
  EXPECT_FALSE(lease.lost().stop_requested());
}

TEST_F(Adopt, detach_while_a_renewal_is_on_its_way_sends_no_other) {
  auto lease = mine.take("orders", {.ttl = 6s});
  mine.line->script(Verb::renew, Fault::delay_reply(300ms));
  advance(2100ms);
  lease.detach();
  advance(60s);
  EXPECT_EQ(mine.line->count(Verb::renew), 1U);
}

}  // namespace
}  // namespace holdfast::test
