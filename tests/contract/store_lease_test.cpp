// SPDX-License-Identifier: Apache-2.0
//
// Time, fences and repetition, by the store's own clock.
#include "store_contract.hpp"

namespace holdfast::test {

TEST_P(StoreContract, a_grant_says_what_is_left_by_the_clock_of_the_store) {
  const auto start = send({spec, model::Inspect{}}, "orders:42");
  if (start->at == model::StoreTime{}) GTEST_SKIP() << "it has no clock of its own";
  const auto first = granted(acquire({.owner = "anna", .ttl = 10s}));
  EXPECT_EQ(first.remaining, 10s);
  const auto granted_at = send({spec, model::Inspect{}}, "orders:42")->at;
  ASSERT_TRUE(eventually(
      [&] { return send({spec, model::Inspect{}}, "orders:42")->at - granted_at > 20ms; }));
  const auto again = granted(acquire({.owner = "anna", .ttl = 10s}));
  const auto end = send({spec, model::Inspect{}}, "orders:42");
  // A store may round a lease up to its next millisecond.
  EXPECT_LE(again.remaining, 10s - 18ms);
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_GE(end->at - start->at, 20ms);
}

TEST_P(StoreContract, a_grant_says_how_long_ago_the_lease_began) {
  const auto before = runtime->now();
  const auto first = granted(acquire({.owner = "anna", .ttl = 60s}));
  ASSERT_TRUE(first.held_for);
  EXPECT_LE(*first.held_for, runtime->now() - before);
  const auto first_answer = runtime->now();
  ASSERT_TRUE(eventually([&] { return runtime->now() - first_answer > 20ms; }));
  // The first needs no change, the second is the first that does: a store keeps it in other ways.
  for (const auto ttl : {50s, 70s, 90s}) {
    const auto at_least = runtime->now() - first_answer;
    const auto renewed = granted(renew("anna", 1, ttl));
    ASSERT_TRUE(renewed.held_for);
    // A store may count in milliseconds.
    EXPECT_GE(*renewed.held_for + 2ms, at_least);
    EXPECT_LE(*renewed.held_for, runtime->now() - before + 2ms);
  }
}

TEST_P(StoreContract, a_lease_ends_by_itself_and_the_next_fence_is_larger) {
  const auto start = runtime->now();
  const auto first = granted(acquire({.owner = "anna", .ttl = 100ms}));
  ASSERT_TRUE(becomes_free());
  EXPECT_GE(runtime->now() - start, 98ms);
  EXPECT_GT(granted(acquire({.owner = "ben"})).fence, first.fence);
  must_be<model::NotOwner>(renew("anna"));
  must_be<model::NotOwner>(release("anna"));
}

TEST_P(StoreContract, what_ended_by_itself_is_not_held) {
  granted(acquire({.owner = "anna", .ttl = 300ms}));
  ASSERT_TRUE(becomes_free());
  must_be<model::NotHeld>(renew("anna"));
  must_be<model::NotHeld>(release("anna"));
  must_be<model::NotHeld>(force_release());
  EXPECT_TRUE(inspect().holders.empty());
}

TEST_P(StoreContract, renewals_keep_a_lease_beyond_its_ttl) {
  constexpr Micros ttl = 200ms;
  const auto is_kept = [&] {
    const auto start = runtime->now();
    const std::uint64_t request = ++last_fresh_request;
    const auto first = granted(acquire({.owner = "anna", .request = request, .ttl = ttl}));
    for (auto before = start; runtime->now() - start < 2 * ttl;) {
      const auto sent = runtime->now();
      const auto outcome = renew("anna", request, ttl);
      const auto* renewed = std::get_if<model::Granted>(&outcome);
      if (!renewed) {
        EXPECT_GE(runtime->now() - before, ttl) << "it was lost, although it was renewed in time";
        return false;
      }
      EXPECT_EQ(renewed->fence, first.fence);
      EXPECT_EQ(renewed->remaining, ttl);
      before = sent;
    }
    return true;
  };
  // On a machine that stands still for longer than the ttl it takes more than one try.
  EXPECT_TRUE(eventually(is_kept));
}

TEST_P(StoreContract, a_renewal_sets_the_time_and_never_adds_or_shortens) {
  granted(acquire({.owner = "anna", .ttl = 20s}));
  EXPECT_EQ(granted(renew("anna", 1, 30s)).remaining, 30s);
  EXPECT_EQ(granted(renew("anna", 1, 30s)).remaining.count() / 1'000'000, 30);
  EXPECT_GT(granted(renew("anna", 1, 1s)).remaining, 20s);
}

TEST_P(StoreContract, every_reader_has_a_lease_of_its_own) {
  spec = Spec::read_write();
  granted(acquire({.owner = "anna", .permits = 1, .ttl = 40ms}));
  granted(acquire({.owner = "ben", .permits = 1, .ttl = 60s}));
  ASSERT_TRUE(eventually([&] { return inspect().holders.size() == 1; }));
  let_pass(2ms);
  must_be<model::NotOwner>(renew("anna"));
  granted(renew("ben"));
}

TEST_P(StoreContract, fences_grow_from_grant_to_grant_over_all_names) {
  Fence last = 0;
  for (int round = 0; round < 30; ++round) {
    const std::string name = "name-" + std::to_string(round % 7);
    const auto fence = granted(acquire({.owner = "anna"}, name)).fence;
    EXPECT_GT(fence, last);
    last = fence;
    must_be<model::Released>(release("anna", 1, name));
  }
}

// A store that lost everything must not start again at one. Its clock is another process's, and the
// machine's may be set back between the two looks: they agree to a second, not to a microsecond.
TEST_P(StoreContract, fences_begin_at_the_wall_clock) {
  constexpr Fence apart = 1'000'000;
  const auto before = runtime::wall_clock_us();
  EXPECT_GE(granted(acquire({.owner = "anna"})).fence + apart, before);
}

TEST_P(StoreContract, fences_grow_when_the_store_is_opened_anew) {
  Fence last = 0;
  for (int round = 0; round < 5; ++round) {
    const auto fence = granted(acquire({.owner = "anna"})).fence;
    EXPECT_GT(fence, last);
    last = fence;
    release("anna");
    store.reset();
    store = open_again();
  }
}

// A retry counted as a re-entry, and the lock was never free again:
// docs/incidents.md#hazelcast-a-retry-that-counts-as-re-entry.
TEST_P(StoreContract, a_repeated_acquire_is_not_a_second_hold) {
  spec = Spec::reentrant();
  const auto first = granted(acquire({.owner = "anna", .request = 7}));
  EXPECT_EQ(granted(acquire({.owner = "anna", .request = 7})).fence, first.fence);
  EXPECT_EQ(inspect().holders.size(), 1U);
  must_be<model::Released>(release("anna", 7));
  granted(acquire({.owner = "ben"}));
}

TEST_P(StoreContract, a_repeated_release_does_not_count_down_twice) {
  spec = Spec::reentrant();
  granted(acquire({.owner = "anna", .request = 1}));
  granted(acquire({.owner = "anna", .request = 2}));
  must_be<model::Released>(release("anna", 2));
  EXPECT_NE(kind_of(release("anna", 2)), "Released");
  busy(acquire({.owner = "ben"}));
}

TEST_P(StoreContract, a_late_release_does_not_end_the_next_hold_of_the_same_owner) {
  granted(acquire({.owner = "anna", .request = 1}));
  release("anna", 1);
  granted(acquire({.owner = "anna", .request = 2}));
  must_be<model::NotOwner>(release("anna", 1));
  busy(acquire({.owner = "ben"}));
}

TEST_P(StoreContract, a_request_of_zero_means_everything_the_owner_has) {
  spec = Spec::read_write();
  granted(acquire({.owner = "anna", .request = 1, .permits = 1}));
  granted(acquire({.owner = "anna", .request = 2, .permits = 1}));
  granted(acquire({.owner = "ben", .permits = 1}));
  EXPECT_EQ(granted(renew("anna", 0, 40s)).remaining, 40s);
  must_be<model::Released>(release("anna", 0));
  EXPECT_EQ(inspect().holders.size(), 1U);
}

// A user's own owner holds one lease after the other, and a release may come late.
TEST_P(StoreContract, a_late_release_up_to_a_fence_leaves_the_next_lease_of_the_owner_alone) {
  const auto first = granted(acquire({.owner = "job-17", .request = 1}));
  must_be<model::Released>(release_up_to("job-17", first.fence));
  const auto next = granted(acquire({.owner = "job-17", .request = 2}));
  must_be<model::NotHeld>(release_up_to("job-17", first.fence));
  EXPECT_EQ(granted(renew("job-17", 2)).fence, next.fence);
  busy(acquire({.owner = "ben"}));
  must_be<model::Released>(release_up_to("job-17", next.fence));
  granted(acquire({.owner = "ben"}));
  must_be<model::NotOwner>(release_up_to("job-17", next.fence));
}

TEST_P(StoreContract, a_release_up_to_a_fence_ends_what_is_older_and_leaves_what_is_newer) {
  spec = Spec::read_write();
  granted(acquire({.owner = "anna", .request = 1, .permits = 1}));
  const auto second = granted(acquire({.owner = "anna", .request = 2, .permits = 1}));
  granted(acquire({.owner = "ben", .permits = 1}));
  granted(acquire({.owner = "anna", .request = 3, .permits = 1}));
  must_be<model::Released>(release_up_to("anna", second.fence));
  EXPECT_EQ(inspect().holders.size(), 2U);
  must_be<model::NotHeld>(release_up_to("anna", second.fence));
  granted(renew("anna", 3));
  granted(renew("ben"));
}

TEST_P(StoreContract, a_command_that_is_cancelled_before_it_starts_changes_nothing) {
  std::stop_source stop;
  stop.request_stop();
  store::Request request{.name = name_of("orders:42"),
                         .command = model::LockCommand{spec, to_command(spec.kind, {.owner = "x"})},
                         .deadline = soon(),
                         .stop = stop.get_token()};
  const auto reply = runtime::run_blocking(store->apply(std::move(request)));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::cancelled);
  EXPECT_TRUE(inspect().holders.empty());
}

}  // namespace holdfast::test
