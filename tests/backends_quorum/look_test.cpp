// SPDX-License-Identifier: Apache-2.0
//
// What an operator sees of a lock that is on several members.
#include "quorum_fixture.hpp"

#include <set>

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using State = MemberView::State;

class QuorumLook : public QuorumTest {
 public:
  model::Seen look(std::string_view mine = "anna") {
    auto asking = start({spec, model::Inspect{owner_named(mine)}});
    advance(200ms);
    return must_be<model::Seen>(outcome_of(asking.result()));
  }
  Result<LockPage> list(std::string cursor = {}, std::uint32_t limit = 100,
                        std::string prefix = {}) {
    Running<Result<LockPage>> listing(store->list({.prefix = std::move(prefix),
                                                   .cursor = std::move(cursor),
                                                   .limit = limit,
                                                   .deadline = now() + 10s}));
    advance(1s);
    return listing.result();
  }
  std::multiset<std::string> names(std::uint32_t limit, const std::string& prefix = {}) {
    std::multiset<std::string> all;
    std::string cursor;
    for (int pages = 0; pages < 100; ++pages) {
      const auto page = value_of(list(cursor, limit, prefix));
      EXPECT_LE(page.locks.size(), limit);
      for (const auto& lock : page.locks) all.insert(lock.name);
      cursor = page.next;
      if (cursor.empty()) return all;
    }
    ADD_FAILURE() << "a listing without end";
    return all;
  }
};

TEST_F(QuorumLook, has_a_row_for_each_member_and_the_holder_once) {
  open(3);
  const auto grant = granted(acquire({.owner = "anna", .note = "nightly"}));
  const auto seen = look();
  ASSERT_EQ(seen.lock.holders.size(), 1U);
  EXPECT_EQ(seen.lock.holders[0].fence, grant.fence);
  EXPECT_EQ(seen.lock.holders[0].metadata->note, "nightly");
  ASSERT_TRUE(seen.mine.has_value());
  EXPECT_EQ(seen.mine->fence, grant.fence);
  ASSERT_EQ(seen.lock.members.size(), 3U);
  for (std::size_t at = 0; at < 3; ++at) {
    const auto& row = seen.lock.members[at];
    EXPECT_EQ(row.address, "m" + std::to_string(at));
    EXPECT_EQ(row.state, State::held);
    EXPECT_TRUE(row.counts);
    EXPECT_EQ(row.fence, grant.fence);
    EXPECT_EQ(row.party, seen.lock.holders[0].party);
    EXPECT_EQ(row.holders, 1U);
    EXPECT_TRUE(row.reason.empty());
  }
  EXPECT_FALSE(look("ben").mine.has_value());
}

TEST_F(QuorumLook, tells_what_each_member_is_and_why) {
  open(5);
  granted(acquire({.owner = "anna"}));
  apply_at(1, {spec, model::ForceRelease{}});
  script({2}, Verb::inspect, Fault::refuse());
  script({3}, Verb::inspect, Fault::lose_request());
  const auto rows = look().lock.members;
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].state, State::held);
  EXPECT_EQ(rows[1].state, State::free);
  EXPECT_EQ(rows[1].holders, 0U);
  EXPECT_EQ(rows[2].state, State::unreachable);
  EXPECT_THAT(rows[2].reason, HasSubstr("refused by a script"));
  EXPECT_FALSE(rows[2].counts);
  EXPECT_EQ(rows[3].state, State::too_slow);
  EXPECT_FALSE(rows[3].counts);
  EXPECT_EQ(rows[4].state, State::held);
}

TEST_F(QuorumLook, shows_only_what_a_majority_has_and_as_long_as_it_has_it) {
  open(5);
  take_at({0, 1, 2}, {.owner = "anna", .ttl = 5s});
  const auto seen = look();
  ASSERT_EQ(seen.lock.holders.size(), 1U);
  EXPECT_EQ(seen.lock.holders[0].remaining, 5s);
  apply_at(0, {spec, model::ForceRelease{}});
  EXPECT_TRUE(look().lock.holders.empty());
  EXPECT_FALSE(look().mine.has_value());
  EXPECT_EQ(look().lock.members[1].state, State::held) << "its row still says so";
}

TEST_F(QuorumLook, a_lease_lasts_until_no_majority_is_left) {
  open(3);
  take_at({0}, {.owner = "anna", .ttl = 9s});
  take_at({1}, {.owner = "anna", .ttl = 7s});
  take_at({2}, {.owner = "anna", .ttl = 5s});
  const auto seen = look();
  EXPECT_EQ(seen.lock.holders.at(0).remaining, 7s);
  EXPECT_EQ(seen.mine.value().remaining, 7s);
}

TEST_F(QuorumLook, several_leases_of_one_party_stay_several) {
  open(3);
  spec = model::LockSpec::read_write();
  granted(acquire({.owner = "anna", .request = 1, .permits = 1}));
  granted(acquire({.owner = "anna", .request = 2, .permits = 1}));
  granted(acquire({.owner = "ben", .request = 3, .permits = 1}));
  const auto seen = look();
  EXPECT_EQ(seen.lock.kind, Kind::read_write);
  EXPECT_EQ(seen.lock.holders.size(), 3U);
  EXPECT_EQ(seen.lock.members[0].holders, 3U);
}

TEST_F(QuorumLook, needs_a_majority_that_answers) {
  open(3);
  script({0, 1}, Verb::inspect, Fault::refuse());
  EXPECT_EQ(error_of(send({spec, model::Inspect{}})), Errc::quorum_not_reached);
}

TEST_F(QuorumLook, a_member_that_does_not_count_says_why) {
  open(3, with_grace(30s));
  known[2]->is_now({.server = "new", .up_since = now()});
  granted(acquire({.owner = "anna"}));
  const auto rows = look().lock.members;
  EXPECT_TRUE(rows[0].counts);
  EXPECT_FALSE(rows[2].counts);
  EXPECT_THAT(rows[2].reason, HasSubstr("was started a short time ago"));
}

TEST_F(QuorumLook, a_listing_names_each_lock_once_whatever_the_pages) {
  open(5);
  std::multiset<std::string> expected;
  for (int number = 0; number < 23; ++number) {
    const auto name = "lock-" + std::to_string(number);
    granted(acquire({.owner = "anna", .ttl = 1h}, name));
    expected.insert(name);
  }
  for (const std::uint32_t limit : {1U, 2U, 7U, 23U, 100U}) EXPECT_EQ(names(limit), expected);
  EXPECT_EQ(names(3, "lock-1").size(), 11U);
}

TEST_F(QuorumLook, a_listing_finds_locks_that_the_first_members_do_not_have) {
  open(5);
  script({0, 1}, Verb::acquire, Fault::refuse());
  granted(acquire({.owner = "anna"}));
  EXPECT_EQ(names(10), std::multiset<std::string>{"orders:42"});
  const auto page = value_of(list());
  EXPECT_EQ(page.locks.at(0).holders.size(), 1U);
  EXPECT_EQ(page.locks.at(0).members.size(), 5U);
}

TEST_F(QuorumLook, a_listing_leaves_out_what_no_majority_has) {
  open(5);
  take_at({0, 1}, {.owner = "anna"});
  EXPECT_TRUE(names(10).empty());
}

TEST_F(QuorumLook, a_listing_goes_on_without_members_that_are_away) {
  open(5);
  granted(acquire({.owner = "anna"}));
  members[0]->pause();
  members[1]->pause();
  EXPECT_EQ(names(10), std::multiset<std::string>{"orders:42"});
}

TEST_F(QuorumLook, a_listing_of_many_locks_is_complete_although_members_are_silent) {
  open(5);
  for (int number = 0; number < 60; ++number) {
    granted(acquire({.owner = "anna", .ttl = 1h}, "lock-" + std::to_string(number)));
  }
  members[1]->pause();
  members[2]->pause();
  Running<Result<LockPage>> listing(store->list({.limit = 100, .deadline = now() + 500ms}));
  advance(500ms);
  EXPECT_EQ(value_of(listing.result()).locks.size(), 60U);
}

TEST_F(QuorumLook, a_listing_that_cannot_be_complete_fails) {
  open(5);
  granted(acquire({.owner = "anna"}));
  for (const auto at : {1, 2, 3}) members[at]->pause();
  EXPECT_FALSE(list().has_value());
  for (const auto at : {1, 2, 3}) members[at]->resume();
  script({0, 1, 2}, Verb::inspect, Fault::refuse(), 1);
  EXPECT_EQ(error_of(list()), Errc::quorum_not_reached);
}

TEST_F(QuorumLook, a_listing_refuses_a_cursor_that_is_none) {
  open(3);
  for (const auto* cursor : {"x", "9/", "3/", "-1/", "1", "/"}) {
    EXPECT_EQ(error_of(list(cursor)), Errc::bad_input) << cursor;
  }
}

TEST_F(QuorumLook, the_trail_is_that_of_the_first_member_that_answers) {
  open(3);
  known[0]->set_history(fail(Errc::unavailable, "away"));
  known[1]->set_history(std::vector<LockEvent>(2));
  const auto history = [&] {
    Running<Result<std::vector<LockEvent>>> reading(
        store->history(LockName::make("orders:42").value(), 10, now() + 1s));
    return reading.result();
  };
  EXPECT_EQ(value_of(history()).size(), 2U);
  EXPECT_EQ(known[2]->histories, 0U);
  known[1]->set_history(fail(Errc::unsupported, "keeps none"));
  EXPECT_EQ(error_of(history()), Errc::unsupported);
}

TEST_F(QuorumLook, the_clock_that_is_furthest_off_is_told) {
  open(3);
  known[0]->set_offset(Micros(5ms));
  known[1]->set_offset(Micros(-90ms));
  known[2]->set_offset(fail(Errc::unavailable, "away"));
  Running<Result<Micros>> measuring(store->clock_offset(now() + 1s));
  EXPECT_EQ(value_of(measuring.result()), -90ms);
}

}  // namespace
}  // namespace holdfast::test
