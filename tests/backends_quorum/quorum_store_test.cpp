// SPDX-License-Identifier: Apache-2.0
//
// Which members there may be, whose word counts, what is refused, and how clients wait.
#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "quorum_fixture.hpp"

#include <set>

namespace holdfast::test {
namespace {

using backends::quorum::make_quorum_store;
using backends::quorum::MemberStore;
using store::Standing;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;

class QuorumStore : public QuorumTest {
 public:
  Result<StorePtr> try_open(const std::vector<Standing>& standings, const Options& options = {}) {
    std::vector<MemberStore> stores;
    for (const auto& standing : standings) {
      auto member = std::make_shared<KnownStore>(backends::memory::make_memory_store(runtime));
      member->set_standing(standing);
      stores.push_back({member, "m" + std::to_string(stores.size())});
    }
    return make_quorum_store(std::move(stores), options, runtime);
  }
  Client client() const { return Client(client::make_core(store, runtime)); }
  Running<Result<Lease>> acquire_by(const Client& client, AcquireOptions options,
                                    std::stop_token stop = {}) {
    auto mutex = client.mutex("orders:42");
    Running<Result<Lease>> acquiring(mutex.async_acquire(options, std::move(stop)));
    runtime->run();
    return acquiring;
  }
  static Options with_retries(std::uint32_t retries) {
    Options options = usual();
    options.retries = retries;
    return options;
  }
};

TEST_F(QuorumStore, diagnose_fails_once_too_few_members_answer) {
  open(3);
  const auto look = [&] {
    Running<Result<std::vector<std::string>>> looking(store->diagnose(now() + 10s));
    advance(10s);
    return std::move(looking.result());
  };
  EXPECT_TRUE(look().has_value());
  script({0}, Verb::inspect, Fault::refuse());
  const auto found = look();
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, Contains(HasSubstr("1 of 3 members cannot be reached")));
  script({1}, Verb::inspect, Fault::refuse());
  const auto away = look();
  ASSERT_FALSE(away.has_value());
  EXPECT_EQ(away.error().code, Errc::quorum_not_reached);
  EXPECT_THAT(away.error().message, HasSubstr("2 of 3 members cannot be reached, and 2 must"));
}

TEST_F(QuorumStore, has_three_to_fifteen_members) {
  for (const std::size_t count : {0U, 1U, 2U, 16U}) {
    const auto opened = try_open(std::vector<Standing>(count));
    ASSERT_FALSE(opened.has_value()) << count;
    EXPECT_EQ(opened.error().code, Errc::bad_input);
    EXPECT_THAT(opened.error().message, HasSubstr("needs 3 to 15 members; got"));
  }
  for (const std::size_t count : {3U, 4U, 5U, 15U}) {
    EXPECT_TRUE(try_open(std::vector<Standing>(count)).has_value()) << count;
  }
}

TEST_F(QuorumStore, refuses_the_same_server_twice_unless_it_is_allowed) {
  const std::vector<Standing> twins{{.server = "one", .place = "0"},
                                    {.server = "two", .place = "0"},
                                    {.server = "one", .place = "1"}};
  const auto refused = try_open(twins);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::bad_input);
  EXPECT_THAT(refused.error().message, HasSubstr("m0 and m2 are the same server"));
  EXPECT_THAT(refused.error().message, HasSubstr("same_server=allow"));
  Options options = usual();
  options.allow_same_server = true;
  EXPECT_TRUE(try_open(twins, options).has_value());
  const std::vector<Standing> same_locks(3, {.server = "one", .place = "0"});
  EXPECT_FALSE(try_open(same_locks, options).has_value());
}

TEST_F(QuorumStore, counts_once_a_server_that_turns_out_to_be_there_twice) {
  open(3);
  known[0]->set_standing({.server = "one"});
  known[1]->set_standing({.server = "one"});
  auto asking = start(Ask{.owner = "anna"});
  granted(outcome_of(asking.result()));
  release("anna");
  script({2}, Verb::acquire, Fault::refuse());
  asking = start(Ask{.owner = "ben", .request = 2});
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
  EXPECT_THAT(message_of(asking.result()), HasSubstr("m1 refused (is the same server as m0)"));
  advance(1ms);
  EXPECT_THAT(holders(), Each(0U)) << "a vote that does not count is given back too";
}

// The accident this is for: two of three have restarted, and forgot who holds the lock.
TEST_F(QuorumStore, a_majority_that_was_restarted_cannot_grant_what_another_holds) {
  open(3, with_grace(20s));
  granted(acquire({.owner = "anna", .ttl = 20s}));
  for (std::size_t at = 0; at < 2; ++at) {
    members[at]->empty();
    known[at]->is_now({.server = "new" + std::to_string(at), .up_since = now()});
  }
  // However short its own lease is to be.
  advance(1s);
  auto asking = start(Ask{.owner = "ben", .request = 2, .ttl = 500ms});
  EXPECT_FALSE(asking.result().has_value() &&
               std::holds_alternative<model::Granted>(outcome_of(asking.result())));
  advance(19s);
  granted(acquire({.owner = "ben", .request = 3, .ttl = 10s}));
}

TEST_F(QuorumStore, says_of_each_young_member_when_it_counts) {
  open(3, with_grace(30s));
  for (std::size_t at = 0; at < 3; ++at) {
    known[at]->is_now({.server = "s" + std::to_string(at), .up_since = now() - at * 5s});
  }
  auto asking = start(Ask{.owner = "anna"});
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
  const auto message = message_of(asking.result());
  EXPECT_THAT(message, HasSubstr("m0 refused (was started a short time ago; counts in 30.0 s)"));
  EXPECT_THAT(message, HasSubstr("m1 refused (was started a short time ago; counts in 25.0 s)"));
  EXPECT_THAT(message, HasSubstr("m2 refused (was started a short time ago; counts in 20.0 s)"));
  advance(1ms);
  EXPECT_THAT(holders(), Each(0U));
  advance(25s);
  granted(acquire({.owner = "anna", .request = 2}));
}

TEST_F(QuorumStore, does_not_count_a_young_member_without_memory_within_the_grace) {
  open(3, with_grace(30s));
  known[0]->is_now({.server = "young", .up_since = now()});
  known[1]->is_now({.server = "old", .up_since = now() - 1h});
  known[2]->is_now({.server = "keeps", .up_since = now(), .keeps_memory = true});
  script({2}, Verb::acquire, Fault::refuse(), 1);
  auto asking = start(Ask{.owner = "anna"});
  EXPECT_EQ(error_of(asking.result()), Errc::quorum_not_reached);
  EXPECT_THAT(message_of(asking.result()), HasSubstr("m0 refused (was started a short time ago"));
  granted(acquire({.owner = "anna", .request = 2}));
  release("anna", 2);
  advance(30s);
  script({2}, Verb::acquire, Fault::refuse(), 1);
  granted(acquire({.owner = "anna", .request = 3}));
}

TEST_F(QuorumStore, refuses_a_ttl_that_members_without_memory_could_grant_twice) {
  open(3, with_grace(30s));
  known[0]->is_now({.server = "a", .up_since = now() - 1h});
  known[1]->is_now({.server = "b", .up_since = now() - 1h});
  known[2]->is_now({.server = "c", .up_since = now() - 1h, .keeps_memory = true});
  const auto refused = send({spec, to_command(spec.kind, {.owner = "anna", .ttl = 31s})});
  EXPECT_EQ(error_of(refused), Errc::bad_input);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("ttl: 31s is longer than grace, 30s"), HasSubstr("2 of 3 members")));
  EXPECT_EQ(count(Verb::acquire), 0U);
  granted(acquire({.owner = "anna", .ttl = 30s}));
  const model::Renew longer{owner_named("anna"), model::RequestId{1}, 31s};
  EXPECT_EQ(error_of(send({spec, longer})), Errc::bad_input);
  // A majority that keeps it is enough, and the others do not count.
  known[1]->is_now({.server = "b", .up_since = now() - 1h, .keeps_memory = true});
  granted(renew("anna", 1h));
  script({1}, Verb::renew, Fault::refuse(), 1);
  auto renewing = start_renewal("anna", 1h);
  EXPECT_THAT(message_of(renewing.result()), HasSubstr("m0 refused (may forget it; a ttl of 3600"));
}

TEST_F(QuorumStore, keeps_a_lease_over_a_rolling_restart_of_members_with_memory) {
  open(3, with_grace(30s));
  for (std::size_t at = 0; at < 3; ++at) {
    known[at]->is_now({.server = std::to_string(at), .up_since = now() - 1h, .keeps_memory = true});
  }
  granted(acquire({.owner = "anna", .ttl = 6s}));
  for (std::size_t at = 0; at < 3; ++at) {
    advance(1500ms);
    known[at]->is_now({.server = "new" + std::to_string(at),
                       .up_since = now(),
                       .keeps_memory = true,
                       .replaced_at = now()});
    granted(renew("anna", 6s));
  }
  advance(5s);
  granted(renew("anna", 6s));
}

// Each is repaired by a renewal before the next one goes.
TEST_F(QuorumStore, keeps_a_lease_over_a_rolling_restart_of_members_without_memory) {
  open(3, with_grace(30s));
  for (std::size_t at = 0; at < 3; ++at) {
    known[at]->is_now({.server = std::to_string(at), .up_since = now() - 1h});
  }
  granted(acquire({.owner = "anna", .ttl = 6s}));
  for (std::size_t at = 0; at < 3; ++at) {
    advance(1500ms);
    members[at]->empty();
    known[at]->is_now({.server = "new" + std::to_string(at), .up_since = now()});
    granted(renew("anna", 6s));
    advance(100ms);
  }
  script({0}, Verb::renew, Fault::refuse(), 1);
  granted(renew("anna", 6s));
  auto asking = start(Ask{.owner = "ben", .request = 2});
  EXPECT_FALSE(asking.result().has_value() &&
               std::holds_alternative<model::Granted>(outcome_of(asking.result())));
}

// What the vote of another left on a young member is no lease of its owner.
TEST_F(QuorumStore, a_renewal_of_whatever_an_owner_has_is_no_proof_of_a_grant) {
  open(3, with_grace(30s));
  known[0]->is_now({.server = "young", .up_since = now()});
  for (std::size_t at : {1U, 2U}) {
    known[at]->is_now({.server = std::to_string(at), .up_since = now() - 1h});
  }
  take_at({0, 1}, {.owner = "ben"});
  const model::Renew any{owner_named("ben"), model::RequestId::any, 10s};
  EXPECT_EQ(error_of(send({spec, any})), Errc::quorum_not_reached);
  granted(renew("ben"));
}

TEST_F(QuorumStore, a_fence_is_not_accepted_by_members_that_may_have_forgotten_a_newer_one) {
  open(3, with_grace(30s));
  for (std::size_t at = 0; at < 3; ++at) {
    known[at]->is_now({.server = std::to_string(at), .up_since = now() - 1h});
  }
  const auto check = [&](Fence fence) {
    Asking asking(store->apply({.name = LockName::make("orders:42").value(),
                                .command = model::GuardCommand{.fence = fence},
                                .deadline = now() + 1s}));
    runtime->run();
    return std::move(asking.result());
  };
  members[2]->script(Verb::check_fence, Fault::refuse(), 1);
  ASSERT_TRUE(check(20).has_value());
  members[1]->empty();
  known[1]->is_now({.server = "new", .up_since = now()});
  members[0]->script(Verb::check_fence, Fault::refuse(), 1);
  const auto stale = check(10);
  EXPECT_EQ(error_of(stale), Errc::quorum_not_reached);
  EXPECT_THAT(message_of(stale), HasSubstr("m1 refused (was started a short time ago"));
}

TEST_F(QuorumStore, refuses_what_a_majority_cannot_do_soundly) {
  open(3);
  using model::LockSpec;
  for (const auto& good :
       {LockSpec::mutex(), LockSpec::mutex(Order::barging), LockSpec::reentrant(),
        LockSpec::read_write(), LockSpec::election(), LockSpec::semaphore(1)}) {
    EXPECT_TRUE(store->supports(good).has_value());
  }
  for (const auto& bad : {LockSpec::semaphore(2), LockSpec::mutex(Order::fifo),
                          LockSpec::read_write(Order::fifo), LockSpec::reentrant(Order::fifo)}) {
    ASSERT_FALSE(store->supports(bad).has_value());
    EXPECT_EQ(store->supports(bad).error().code, Errc::unsupported);
    const Ask ask{.owner = "anna"};
    EXPECT_EQ(error_of(send({bad, to_command(bad.kind, ask)})), Errc::unsupported);
  }
  EXPECT_EQ(count(Verb::acquire), 0U);
}

TEST_F(QuorumStore, can_do_what_all_its_members_can) {
  open(3);
  known[1]->set_unsupported(Kind::election);
  EXPECT_FALSE(store->supports(model::LockSpec::election()).has_value());
  EXPECT_TRUE(store->supports(model::LockSpec::mutex()).has_value());
}

TEST_F(QuorumStore, says_what_it_is_and_how_it_is_asked) {
  Options options = usual();
  options.retries = 7;
  options.retry_delay = 11ms;
  options.retry_jitter = 5ms;
  open(3, options);
  EXPECT_EQ(store->describe(), "redlock://m0,m1,m2");
  const auto can = store->capabilities();
  EXPECT_TRUE(can.queues);
  EXPECT_FALSE(can.immediate);
  EXPECT_TRUE(can.spends_requests);
  EXPECT_EQ(can.retry.times, 7U);
  EXPECT_EQ(can.retry.delay, 11ms);
  EXPECT_EQ(can.retry.jitter, 5ms);
}

TEST_F(QuorumStore, a_try_is_tried_again_with_a_request_of_its_own_each_time) {
  open(3, with_retries(2));
  take_at({0, 1, 2}, {.owner = "ben", .ttl = 1h});
  auto acquiring = acquire_by(client(), {});
  advance(2s);
  EXPECT_EQ(error_of(acquiring.result()), Errc::busy);
  EXPECT_THAT(acquiring.result().error().message, HasSubstr("on 3 of 3 members"));
  const auto sent = members[0]->history(Verb::acquire);
  ASSERT_EQ(sent.size(), 3U);
  std::set<model::RequestId> requests;
  for (const auto& each : sent) {
    const auto& command = std::get<model::LockCommand>(each.request.command);
    requests.insert(std::get<model::Acquire>(command.verb).request);
  }
  EXPECT_EQ(requests.size(), 3U);
  for (std::size_t at = 1; at < sent.size(); ++at) {
    EXPECT_LE(sent[at].at - sent[at - 1].at, 401ms);
  }
}

TEST_F(QuorumStore, a_try_that_comes_late_enough_gets_the_lock) {
  open(3, with_retries(3));
  take_at({0, 1, 2}, {.owner = "ben", .ttl = 20ms});
  auto acquiring = acquire_by(client(), {.ttl = 10s, .renew = false});
  advance(2s);
  auto lease = value_of(std::move(acquiring.result()));
  EXPECT_EQ(holders(), counts({1, 1, 1}));
  EXPECT_EQ(value_of(lease.release()), Released::released);
  EXPECT_THAT(holders(), Each(0U));
}

TEST_F(QuorumStore, a_waiter_is_woken_by_the_release_and_leaves_no_place_behind) {
  open(5);
  const auto anna = client();
  const auto ben = client();
  auto first = acquire_by(anna, {.ttl = 30s, .renew = false});
  auto lease = value_of(std::move(first.result()));
  auto waiting = acquire_by(ben, {.ttl = 30s, .wait = 20s, .renew = false});
  advance(1s);
  EXPECT_FALSE(waiting.done());
  EXPECT_EQ(waiters(), counts({1, 1, 1, 1, 1}));
  value_of(lease.release());
  advance(20ms);
  ASSERT_TRUE(waiting.done()) << "it was told, and need not ask by the clock";
  auto second = value_of(std::move(waiting.result()));
  EXPECT_GT(second.fence(), lease.fence());
  EXPECT_THAT(waiters(), Each(0U));
  value_of(second.release());
}

TEST_F(QuorumStore, a_waiter_whose_hints_are_lost_asks_by_itself) {
  open(5);
  auto first = acquire_by(client(), {.ttl = 30s, .renew = false});
  auto lease = value_of(std::move(first.result()));
  for (const auto& member : members) member->lose_notices(1000);
  auto waiting = acquire_by(client(), {.ttl = 30s, .wait = 20s, .renew = false});
  advance(1s);
  value_of(lease.release());
  advance(3s);
  ASSERT_TRUE(waiting.done());
  value_of(value_of(std::move(waiting.result())).release());
}

TEST_F(QuorumStore, a_wait_that_ends_leaves_nothing_behind) {
  open(5);
  take_at({0, 1, 2, 3, 4}, {.owner = "ben", .ttl = 1h});
  auto waiting = acquire_by(client(), {.wait = 1s});
  std::stop_source stop;
  auto cancelled = acquire_by(client(), {.wait = 1h}, stop.get_token());
  advance(1s);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(cancelled.result()), Errc::cancelled);
  advance(1s);
  EXPECT_THAT(waiters(), Each(0U));
  EXPECT_EQ(holders(), counts({1, 1, 1, 1, 1}));
}

TEST_F(QuorumStore, a_crowd_of_waiters_has_it_one_after_the_other) {
  open(5);
  std::vector<Client> clients;
  std::vector<Running<Result<Lease>>> waiting;
  for (int each = 0; each < 6; ++each) {
    clients.push_back(client());
    waiting.push_back(acquire_by(clients.back(), {.ttl = 30s, .wait = 10min, .renew = false}));
  }
  Fence last = 0;
  for (int turn = 0; turn < 6; ++turn) {
    for (int step = 0; step < 4000 && std::ranges::none_of(waiting, &Running<Result<Lease>>::done);
         ++step) {
      advance(5ms);
    }
    ASSERT_EQ(std::ranges::count_if(waiting, &Running<Result<Lease>>::done), 1) << "turn " << turn;
    const auto winner = std::ranges::find_if(waiting, &Running<Result<Lease>>::done);
    auto lease = value_of(std::move(winner->result()));
    EXPECT_GT(lease.fence(), last);
    last = lease.fence();
    advance(50ms);
    ASSERT_EQ(std::ranges::count_if(waiting, &Running<Result<Lease>>::done), 1) << "turn " << turn;
    waiting.erase(winner);
    value_of(lease.release());
  }
}

TEST_F(QuorumStore, a_wait_without_a_quorum_says_so_in_the_end) {
  open(3);
  for (const std::size_t at : {0U, 1U}) members[at]->script(Verb::acquire, Fault::refuse(), 1000);
  auto waiting = acquire_by(client(), {.wait = 2s});
  advance(2s);
  EXPECT_EQ(error_of(waiting.result()), Errc::quorum_not_reached);
}

}  // namespace
}  // namespace holdfast::test
