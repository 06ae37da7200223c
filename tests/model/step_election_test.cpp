// SPDX-License-Identifier: Apache-2.0
#include "support/model_world.hpp"

namespace holdfast::test {
namespace {

using model::LockSpec;

TEST(StepElection, the_value_of_the_leader_is_seen_by_everybody) {
  ModelLock lock(LockSpec::election());
  granted(lock.acquire({.owner = "anna", .value = "10.0.0.7:3009"}));
  const auto seen = must_be<model::Seen>(lock.inspect());
  ASSERT_EQ(seen.lock.holders.size(), 1U);
  EXPECT_EQ(seen.lock.holders[0].metadata->value, "10.0.0.7:3009");
  EXPECT_EQ(seen.lock.kind, Kind::election);
}

TEST(StepElection, there_is_one_leader_and_the_next_candidate_follows_it) {
  ModelLock lock(LockSpec::election());
  granted(lock.acquire({.owner = "anna", .value = "first"}));
  busy(lock.acquire({.owner = "ben", .value = "second"}));
  queued(lock.acquire({.owner = "ben", .wait = true, .value = "second"}));
  EXPECT_EQ(lock.seen().holders[0].metadata->value, "first");
  lock.release("anna");
  EXPECT_EQ(told(lock), Owners{"ben+"});
  EXPECT_EQ(lock.seen().holders[0].metadata->value, "second");
}

TEST(StepElection, without_a_leader_there_is_no_value) {
  ModelLock lock(LockSpec::election());
  granted(lock.acquire({.owner = "anna", .ttl = 1s, .value = "gone"}));
  lock.pass(1s);
  EXPECT_TRUE(must_be<model::Seen>(lock.inspect()).lock.holders.empty());
}

TEST(StepElection, one_leader_does_not_lead_twice) {
  ModelLock lock(LockSpec::election());
  granted(lock.acquire({.owner = "anna", .request = 1}));
  busy(lock.acquire({.owner = "anna", .request = 2}));
}

}  // namespace
}  // namespace holdfast::test
