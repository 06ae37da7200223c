// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

TEST(StepRenew, the_lease_lasts_the_asked_ttl_from_now_on) {
  ModelLock lock(LockSpec::mutex());
  const auto grant = granted(lock.acquire({.owner = "anna", .ttl = 10s}));
  lock.pass(9s);
  const auto renewed = granted(lock.renew("anna", 1, 10s));
  EXPECT_EQ(renewed.remaining, 10s);
  EXPECT_EQ(renewed.fence, grant.fence);
  lock.pass(9s);
  busy(lock.acquire({.owner = "ben"}));
}

TEST(StepRenew, it_never_adds_to_what_is_left) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .ttl = 10s}));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(granted(lock.renew("anna", 1, 10s)).remaining, 10s);
}

TEST(StepRenew, it_never_shortens_a_lease) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .ttl = 30s}));
  EXPECT_EQ(granted(lock.renew("anna", 1, 5s)).remaining, 30s);
  lock.pass(20s);
  EXPECT_EQ(granted(lock.renew("anna", 1, 5s)).remaining, 10s);
}

TEST(StepRenew, what_nobody_holds_is_not_held) {
  ModelLock lock(LockSpec::mutex());
  must_be<model::NotHeld>(lock.renew("anna"));
  granted(lock.acquire({.owner = "anna", .ttl = 1s}));
  lock.pass(1s);
  must_be<model::NotHeld>(lock.renew("anna"));
}

TEST(StepRenew, what_another_holds_is_not_ours) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "ben", .ttl = 10s}));
  must_be<model::NotOwner>(lock.renew("anna", 1, 60s));
  EXPECT_EQ(lock.state.holds[0].expires, lock.now + 10s);
}

TEST(StepRenew, an_older_request_of_the_same_owner_is_not_renewed) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna", .request = 2}));
  must_be<model::NotOwner>(lock.renew("anna", 1));
}

TEST(StepRenew, any_request_means_everything_the_owner_holds) {
  ModelLock lock(LockSpec::semaphore(3));
  granted(lock.acquire({.owner = "anna", .request = 1, .ttl = 5s}));
  granted(lock.acquire({.owner = "ben", .request = 1, .ttl = 5s}));
  const auto newest = granted(lock.acquire({.owner = "anna", .request = 2, .ttl = 5s}));
  const auto renewed = granted(lock.renew("anna", 0, 20s));
  EXPECT_EQ(renewed.fence, newest.fence);
  EXPECT_EQ(renewed.remaining, 20s);
  lock.pass(10s);
  must_be<model::NotOwner>(lock.renew("ben"));
  EXPECT_EQ(holders(lock), (Owners{"anna", "anna"}));
}

TEST(StepRenew, waiting_is_not_holding) {
  ModelLock lock(LockSpec::mutex());
  granted(lock.acquire({.owner = "anna"}));
  queued(lock.acquire({.owner = "ben", .wait = true}));
  must_be<model::NotOwner>(lock.renew("ben"));
  EXPECT_EQ(waiters(lock), Owners{"ben"});
}

}  // namespace
}  // namespace holdfast::test
