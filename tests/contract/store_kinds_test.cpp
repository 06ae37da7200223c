// SPDX-License-Identifier: Apache-2.0
#include "store_contract.hpp"

namespace holdfast::test {

TEST_P(StoreContract, a_mutex_has_one_holder) {
  granted(acquire({.owner = "anna"}));
  busy(acquire({.owner = "ben"}));
  must_be<model::NotOwner>(release("ben"));
  must_be<model::Released>(release("anna"));
  granted(acquire({.owner = "ben"}));
}

TEST_P(StoreContract, a_reentrant_mutex_lets_its_owner_in_again_with_the_same_fence) {
  spec = Spec::reentrant();
  const auto first = granted(acquire({.owner = "anna", .request = 1}));
  EXPECT_EQ(granted(acquire({.owner = "anna", .request = 2})).fence, first.fence);
  busy(acquire({.owner = "ben"}));
  must_be<model::Released>(release("anna", 1));
  busy(acquire({.owner = "ben"}));
  must_be<model::Released>(release("anna", 2));
  granted(acquire({.owner = "ben"}));
}

TEST_P(StoreContract, a_read_write_lock_has_many_readers_or_one_writer) {
  spec = Spec::read_write();
  granted(acquire({.owner = "anna", .permits = 1}));
  granted(acquire({.owner = "ben", .permits = 1}));
  busy(acquire({.owner = "cleo"}));
  release("anna");
  release("ben");
  granted(acquire({.owner = "cleo"}));
  busy(acquire({.owner = "anna", .permits = 1}));
}

TEST_P(StoreContract, a_shared_lease_becomes_exclusive_and_shared_again) {
  spec = Spec::read_write();
  const auto shared = granted(acquire({.owner = "anna", .permits = 1}));
  const auto exclusive = granted(acquire({.owner = "anna", .request = 2, .converts = 1}));
  EXPECT_GT(exclusive.fence, shared.fence);
  busy(acquire({.owner = "ben", .permits = 1}));
  const Ask downgrade{.owner = "anna", .request = 3, .permits = 1, .converts = 1};
  EXPECT_EQ(granted(acquire(downgrade)).fence, exclusive.fence);
  granted(acquire({.owner = "ben", .permits = 1}));
}

TEST_P(StoreContract, a_mutex_and_a_read_write_lock_on_one_name_exclude_each_other) {
  granted(acquire({.owner = "anna"}));
  spec = Spec::read_write();
  busy(acquire({.owner = "ben", .permits = 1}));
  release("anna");
  granted(acquire({.owner = "ben", .permits = 1}));
  spec = Spec::mutex();
  busy(acquire({.owner = "anna"}));
}

TEST_P(StoreContract, a_semaphore_gives_out_n_permits) {
  spec = Spec::semaphore(5);
  if (const auto reason = why_not(spec); !reason.empty()) GTEST_SKIP() << reason;
  granted(acquire({.owner = "anna", .permits = 3}));
  busy(acquire({.owner = "ben", .permits = 3}));
  granted(acquire({.owner = "cleo", .permits = 2}));
  busy(acquire({.owner = "ben", .permits = 1}));
  release("anna");
  granted(acquire({.owner = "ben", .permits = 3}));
}

TEST_P(StoreContract, an_election_has_one_leader_whose_value_is_seen) {
  spec = Spec::election();
  granted(acquire({.owner = "anna", .value = "10.0.0.7:3009"}));
  busy(acquire({.owner = "ben", .value = "10.0.0.8:3009"}));
  const auto seen = inspect();
  ASSERT_EQ(seen.holders.size(), 1U);
  EXPECT_EQ(seen.holders[0].metadata->value, "10.0.0.7:3009");
}

TEST_P(StoreContract, another_spec_on_a_name_in_use_is_a_mismatch_and_changes_nothing) {
  spec = Spec::semaphore(3);
  if (const auto reason = why_not(spec); !reason.empty()) GTEST_SKIP() << reason;
  granted(acquire({.owner = "anna"}));
  for (const auto& other : {Spec::semaphore(4), Spec::mutex(), Spec::reentrant()}) {
    const model::LockCommand command{other, to_command(other.kind, {.owner = "ben"})};
    EXPECT_EQ(refused(apply(command)), Errc::spec_mismatch);
  }
  EXPECT_EQ(inspect().holders.size(), 1U);
  release("anna");
  spec = Spec::mutex();
  granted(acquire({.owner = "ben"}));
}

TEST_P(StoreContract, a_forced_release_ends_every_lease_and_raises_the_fence) {
  spec = Spec::read_write();
  granted(acquire({.owner = "anna", .permits = 1}));
  const auto last = granted(acquire({.owner = "ben", .permits = 1}));
  const auto forced = must_be<model::Forced>(force_release());
  EXPECT_EQ(forced.count, 2U);
  EXPECT_GT(forced.fence, last.fence);
  must_be<model::NotHeld>(renew("anna"));
  must_be<model::NotHeld>(force_release());
  EXPECT_GT(granted(acquire({.owner = "cleo"})).fence, forced.fence);
}

TEST_P(StoreContract, names_do_not_disturb_each_other) {
  granted(acquire({.owner = "anna"}, "a"));
  granted(acquire({.owner = "ben"}, "b"));
  must_be<model::NotHeld>(release("anna", 1, "c"));
  must_be<model::Released>(release("anna", 1, "a"));
  busy(acquire({.owner = "cleo"}, "b"));
}

TEST_P(StoreContract, whoever_opens_the_same_store_meets_the_same_locks) {
  const auto first = store;
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  store = open_again();
  busy(acquire({.owner = "ben"}));
  EXPECT_EQ(granted(renew("anna")).fence, fence);
  must_be<model::Released>(release("anna"));
  store = first;
  EXPECT_GT(granted(acquire({.owner = "ben"})).fence, fence);
}

}  // namespace holdfast::test
