// SPDX-License-Identifier: Apache-2.0
#include "quorum_fixture.hpp"
#include "support/runs.hpp"

namespace holdfast::test {
namespace {

using testing::Each;

class QuorumRelease : public QuorumTest {
 public:
  // What a release is answered, where of five members so many have the lease, have lost it, belong
  // to another, and cannot be reached.
  struct Case {
    std::size_t have;
    std::size_t lost;
    std::size_t others;
    std::size_t away;
    std::string_view answer;
  };
  std::string answer(const Case& each) {
    std::size_t at = 0;
    for (; at < each.have; ++at) take_at({at}, {.owner = "anna"});
    at += each.lost;
    for (; at < each.have + each.lost + each.others; ++at) take_at({at}, {.owner = "ben"});
    for (; at < 5; ++at) script({at}, Verb::release, Fault::refuse(), 1);
    auto releasing = start_release("anna");
    const auto& reply = releasing.result();
    if (!reply) return std::string(to_string(reply.error().code));
    return std::string(kind_of(std::get<model::LockOutcome>(reply->outcome)));
  }
};

TEST_F(QuorumRelease, is_answered_as_the_majority_says) {
  const Case table[] = {{5, 0, 0, 0, "Released"},        {3, 2, 0, 0, "Released"},
                        {3, 0, 0, 2, "Released"},        {3, 0, 2, 0, "Released"},
                        {2, 3, 0, 0, "NotHeld"},         {0, 5, 0, 0, "NotHeld"},
                        {0, 3, 0, 2, "NotHeld"},         {0, 2, 3, 0, "NotOwner"},
                        {0, 0, 5, 0, "NotOwner"},        {2, 0, 0, 3, "outcome_unknown"},
                        {2, 2, 0, 1, "outcome_unknown"}, {0, 0, 0, 5, "quorum_not_reached"}};
  for (const auto& each : table) {
    members.clear();
    known.clear();
    open(5);
    EXPECT_EQ(answer(each), each.answer)
        << each.have << " have it, " << each.lost << " lost it, " << each.others
        << " belong to another, " << each.away << " are away";
  }
}

// It missed the agreement on the fence, and has a larger one for the same lease.
TEST_F(QuorumRelease, up_to_a_fence_ends_the_lease_also_where_it_has_a_larger_one) {
  open(3);
  for (const auto& client : {store, open_again()}) {
    const auto fence = granted(acquire({.owner = "job-17"})).fence;
    granted(apply_at(
        2, {spec, model::Renew{owner_named("job-17"), model::RequestId{1}, 20ms, fence + 1000}}));
    const model::LockCommand command{
        spec, model::Release{.owner = owner_named("job-17"), .up_to = fence}};
    Asking releasing(client->apply(
        {.name = LockName::make("orders:42").value(), .command = command, .deadline = now() + 1s}));
    must_be<model::Released>(outcome_of(releasing.result()));
    advance(1ms);
    EXPECT_THAT(holders(), Each(0U));
    advance(1s);
  }
}

TEST_F(QuorumRelease, up_to_a_fence_leaves_the_next_lease_alone_also_on_members_that_count_behind) {
  open(3);
  const auto other = open_again();
  const auto first = granted(acquire({.owner = "job-17"})).fence;
  must_be<model::Released>(release("job-17"));
  granted(acquire({.owner = "job-17", .request = 2}));
  for (const auto& client : {store, other}) {
    const model::LockCommand late{spec,
                                  model::Release{.owner = owner_named("job-17"), .up_to = first}};
    Asking releasing(client->apply(
        {.name = LockName::make("orders:42").value(), .command = late, .deadline = now() + 1s}));
    must_be<model::NotHeld>(outcome_of(releasing.result()));
    advance(1s);
    EXPECT_THAT(holders(), Each(1U));
  }
  granted(renew("job-17", 10s, 2));
  must_be<model::Released>(release("job-17", 2));
}

TEST_F(QuorumRelease, without_fences_takes_none_and_ends_what_the_owner_has) {
  Options options;
  options.fences = false;
  open(3, options);
  granted(acquire({.owner = "job-17"}));
  const auto refused =
      send({spec, model::Release{.owner = owner_named("job-17"), .up_to = 1'763'000'000'000'000}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unsupported);
  EXPECT_THAT(holders(), Each(1U));
  // What an adoption has seen.
  must_be<model::Released>(
      apply({spec, model::Release{.owner = owner_named("job-17"), .up_to = 0}}));
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumRelease, is_answered_as_soon_as_it_is_certain) {
  open(5);
  granted(acquire({.owner = "anna"}));
  script({3, 4}, Verb::release, Fault::lose_request());
  const auto released = must_be<model::Released>(release("anna"));
  EXPECT_TRUE(released.lease);
}

TEST_F(QuorumRelease, is_told_again_to_those_who_did_not_hear_it) {
  open(5);
  granted(acquire({.owner = "anna"}));
  script({3}, Verb::release, Fault::lose_request(), 2);
  script({4}, Verb::release, Fault::refuse(), 2);
  must_be<model::Released>(release("anna"));
  advance(2s);
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumRelease, that_failed_is_told_again_all_the_same) {
  open(5);
  granted(acquire({.owner = "anna"}));
  script({0, 1, 2, 3, 4}, Verb::release, Fault::refuse(), 1);
  auto releasing = start_release("anna");
  EXPECT_EQ(error_of(releasing.result()), Errc::quorum_not_reached);
  advance(1s);
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumRelease, of_everything_that_an_owner_has) {
  open(3);
  spec = model::LockSpec::reentrant();
  granted(acquire({.owner = "anna", .request = 1}));
  granted(acquire({.owner = "anna", .request = 2}));
  must_be<model::Released>(release("anna", 0));
  EXPECT_THAT(holders(), Each(0U));
}

// As `holdfast release` and the HTTP API do: the owner is named, the lease is not.
TEST_F(QuorumRelease, of_an_owner_does_not_end_the_lease_that_it_gets_later) {
  open(5);
  for (const bool is_known : {true, false}) {
    if (is_known) {
      granted(acquire({.owner = "anna", .request = 1, .ttl = 5s}));
    } else {
      take_at({0, 1, 2, 3, 4}, {.owner = "anna", .request = 1, .ttl = 5s});
    }
    script({3, 4}, Verb::release, Fault::refuse(), 2);
    must_be<model::Released>(release("anna", 0));
    advance(1ms);
    for (const std::size_t at : {3U, 4U}) {
      must_be<model::Released>(
          apply_at(at, {spec, model::Release{owner_named("anna"), model::RequestId{1}}}));
    }
    granted(acquire({.owner = "anna", .request = 2}));
    EXPECT_THAT(holders(), Each(1U));
    advance(2s);
    EXPECT_THAT(holders(), Each(1U)) << (is_known ? "known" : "of another client");
    must_be<model::Released>(release("anna", 2));
  }
}

TEST_F(QuorumRelease, of_an_owner_is_told_again_where_the_lease_is_known) {
  open(5);
  granted(acquire({.owner = "anna"}));
  script({3, 4}, Verb::release, Fault::lose_request(), 2);
  must_be<model::Released>(release("anna", 0));
  advance(2s);
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumRelease, by_force_ends_it_everywhere_and_counts_once) {
  open(5);
  granted(acquire({.owner = "anna"}));
  const auto forced = must_be<model::Forced>(apply({spec, model::ForceRelease{}}));
  EXPECT_EQ(forced.count, 1U);
  EXPECT_THAT(holders(), Each(0U));
  must_be<model::NotHeld>(renew("anna"));
  must_be<model::NotHeld>(apply({spec, model::ForceRelease{}}));
}

TEST_F(QuorumRelease, by_force_leaves_later_holders_alone) {
  open(5);
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  must_be<model::NotOwner>(apply({spec, model::ForceRelease{fence - 1}}));
  EXPECT_THAT(holders(), Each(1U));
  EXPECT_EQ(must_be<model::Forced>(apply({spec, model::ForceRelease{fence}})).count, 1U);
}

// The operator looked while a vote was under way, whose members had a fence each.
TEST_F(QuorumRelease, by_force_leaves_alone_what_was_granted_after_the_look) {
  open(3);
  for (int times = 0; times < 5; ++times) {
    take_at({2}, {.owner = "ben"});
    must_be<model::Released>(
        apply_at(2, {spec, model::Release{owner_named("ben"), model::RequestId{1}}}));
  }
  take_at({0, 2}, {.owner = "anna"});
  const auto seen = must_be<model::Seen>(apply({spec, model::Inspect{}}));
  ASSERT_EQ(seen.lock.holders.size(), 1U);
  apply_at(0, {spec, model::ForceRelease{}});
  apply_at(2, {spec, model::ForceRelease{}});
  script({2}, Verb::acquire, Fault::refuse());
  script({2}, Verb::renew, Fault::refuse());
  granted(acquire({.owner = "carl"}));
  must_be<model::NotOwner>(apply({spec, model::ForceRelease{seen.lock.holders[0].fence}}));
  EXPECT_EQ(holders(), counts({1, 1, 0}));
}

TEST_F(QuorumRelease, by_force_says_so_where_a_majority_may_still_have_it) {
  open(3);
  const auto fence = granted(acquire({.owner = "anna"})).fence;
  apply_at(2, {spec, model::ForceRelease{}});
  take_at({2}, {.owner = "anna"});
  script({1}, Verb::force_release, Fault::refuse());
  must_be<model::NotOwner>(apply({spec, model::ForceRelease{fence}}));
  EXPECT_EQ(holders(), counts({0, 1, 1}));
}

TEST_F(QuorumRelease, by_force_is_not_undone_by_a_renewal_that_was_on_its_way) {
  open(5);
  const auto holder = store;
  const auto operators = open_again();
  granted(acquire({.owner = "anna", .ttl = 10s}));
  script({0, 1}, Verb::renew, Fault::delay_request(10ms), 1);
  granted(renew("anna"));
  advance(5ms);
  for (const std::size_t at : {3U, 4U}) other_lines[at]->pause();
  store = operators;
  auto forcing = start({spec, model::ForceRelease{}});
  advance(1s);
  must_be<model::Forced>(outcome_of(forcing.result()));
  for (const std::size_t at : {3U, 4U}) other_lines[at]->resume();
  store = holder;
  EXPECT_EQ(holders(), counts({0, 0, 0, 1, 1}));
  auto renewing = start_renewal("anna");
  advance(1s);
  must_be<model::NotHeld>(outcome_of(renewing.result()));
}

TEST_F(QuorumRelease, by_force_needs_a_majority_that_hears_it) {
  open(5);
  granted(acquire({.owner = "anna"}));
  script({0, 1, 2}, Verb::force_release, Fault::refuse());
  EXPECT_EQ(error_of(send({spec, model::ForceRelease{}})), Errc::quorum_not_reached);
}

TEST_F(QuorumRelease, by_force_needs_a_majority_that_knows_its_fence) {
  open(5);
  granted(acquire({.owner = "anna"}));
  script({0, 1, 2}, Verb::renew, Fault::refuse());
  EXPECT_EQ(error_of(send({spec, model::ForceRelease{}})), Errc::quorum_not_reached);
}

class QuorumGuard : public QuorumTest {
 public:
  Result<model::GuardOutcome> check(Fence fence) {
    store::Request request{.name = LockName::make("warehouse").value(),
                           .command = model::GuardCommand{.fence = fence},
                           .deadline = now() + 10s};
    Asking asking(store->apply(std::move(request)));
    runtime->run();
    auto& reply = asking.result();
    if (!reply) return std::unexpected(reply.error());
    return std::get<model::GuardOutcome>(reply->outcome);
  }
};

TEST_F(QuorumGuard, refuses_what_one_of_the_majority_knows_to_be_old) {
  open(5);
  script({3, 4}, Verb::check_fence, Fault::refuse(), 1);
  EXPECT_TRUE(value_of(check(100)).accepted);
  script({0, 1}, Verb::check_fence, Fault::refuse(), 2);
  const auto old = value_of(check(99));
  EXPECT_FALSE(old.accepted);
  EXPECT_EQ(old.newest, 100U);
  EXPECT_TRUE(value_of(check(101)).accepted);
  EXPECT_FALSE(value_of(check(100)).accepted);
}

TEST_F(QuorumGuard, accepts_nothing_without_a_majority) {
  open(5);
  script({0, 1, 2}, Verb::check_fence, Fault::refuse());
  EXPECT_EQ(error_of(check(100)), Errc::quorum_not_reached);
}

TEST_F(QuorumTest, refuses_rate_limits_with_the_reason_and_asks_nobody) {
  open(5);
  script({0, 1, 2, 3, 4}, Verb::count_hit, Fault::refuse());
  using RateVerb = model::RateCommand::Verb;
  for (const auto verb : {RateVerb::check, RateVerb::peek, RateVerb::reset}) {
    const model::RateCommand command{verb, {.limit = 1, .window = 1s}};
    store::Request request{
        .name = LockName::make("api").value(), .command = command, .deadline = now() + 10s};
    Asking asking(store->apply(std::move(request)));
    runtime->run();
    const auto& reply = asking.result();
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::unsupported);
    EXPECT_TRUE(reply.error().message.starts_with("a majority vote cannot count hits"));
  }
}

TEST_F(QuorumTest, refuses_runs_with_the_reason_and_asks_nobody) {
  open(5);
  for (const auto verb : {Verb::run_begin, Verb::run_complete, Verb::run_look}) {
    script({0, 1, 2, 3, 4}, verb, Fault::refuse());
  }
  for (const auto& command : {begin_as("ann"), complete_as("ann"), look_at_run()}) {
    store::Request request{
        .name = LockName::make("order").value(), .command = command, .deadline = now() + 10s};
    Asking asking(store->apply(std::move(request)));
    runtime->run();
    const auto& reply = asking.result();
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::unsupported);
    EXPECT_TRUE(reply.error().message.starts_with("a majority vote cannot"))
        << reply.error().message;
  }
}

}  // namespace
}  // namespace holdfast::test
