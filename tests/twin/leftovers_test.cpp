// SPDX-License-Identifier: Apache-2.0
//
// Nothing is left behind in Redis but the counter, whatever way a lock ends.
#include "real_lock.hpp"
#include "support/timing.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

class Leftovers : public RealLock {
 protected:
  // The server removes a few expired keys at a time by itself.
  void expect_to_vanish() {
    eventually([&] { return redis_.integer({"DBSIZE"}) <= 1; });
    EXPECT_THAT(keys(), only_counter());
  }
};

TEST_F(Leftovers, a_thousand_names_locked_and_released_leave_only_the_counter) {
  for (int i = 0; i < 1000; ++i) {
    name_ = LockName::make("lock " + std::to_string(i)).value();
    granted(acquire({.owner = "ann"}));
    if (i % 2 == 0) queued(acquire({.owner = "ben", .wait = true}));
    release("ben");
    release("ann");
  }
  EXPECT_THAT(keys(), only_counter());
}

TEST_F(Leftovers, a_lease_that_nobody_ends_vanishes) {
  granted(acquire({.owner = "ann", .ttl = 30ms}));
  expect_to_vanish();
}

TEST_F(Leftovers, a_renewed_lease_that_nobody_ends_vanishes) {
  granted(acquire({.owner = "ann", .ttl = 800ms}));
  granted(renew("ann", 820ms));
  granted(renew("ann", 850ms));
  expect_to_vanish();
}

TEST_F(Leftovers, leases_in_company_that_nobody_ends_vanish) {
  spec_ = model::LockSpec::semaphore(3);
  granted(acquire({.owner = "ann", .ttl = 800ms}));
  granted(acquire({.owner = "ben", .ttl = 50ms}));
  granted(acquire({.owner = "cid", .ttl = 150ms}));
  granted(renew("ann", 900ms));
  expect_to_vanish();
}

TEST_F(Leftovers, a_lock_with_a_queue_ends_with_the_queue) {
  granted(acquire({.owner = "ann", .ttl = 5s}));
  queued(acquire({.owner = "ben", .ttl = 5s, .wait = true}));
  for (const auto* suffix : {"", ":r", ":z"}) {
    const auto left_ms = redis_.integer({"PTTL", key() + suffix});
    EXPECT_GT(left_ms, 5'500) << suffix;
    EXPECT_LE(left_ms, 10'001) << suffix;
  }
}

TEST_F(Leftovers, a_lease_that_outlasts_its_queue_keeps_all_keys_as_long) {
  granted(acquire({.owner = "ann", .ttl = 60s}));
  queued(acquire({.owner = "ben", .ttl = 1s, .wait = true}));
  granted(renew("ann", 90s));
  for (const auto* suffix : {"", ":r", ":z"}) {
    const auto left_ms = redis_.integer({"PTTL", key() + suffix});
    EXPECT_GT(left_ms, 89'000) << suffix;
    EXPECT_LE(left_ms, 90'001) << suffix;
  }
}

TEST_F(Leftovers, a_refused_conversion_of_a_free_lock_leaves_nothing) {
  acquire({.owner = "ann"});
  release("ann");
  spec_ = model::LockSpec::read_write();
  const auto outcome = acquire({.owner = "ann", .request = 2, .wait = true, .converts = 1});
  EXPECT_TRUE(std::holds_alternative<model::NotHeld>(outcome));
  EXPECT_THAT(keys(), only_counter());
}

}  // namespace
}  // namespace holdfast::test
