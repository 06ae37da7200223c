// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/member.hpp"

#include "backends/memory/memory_store.hpp"
#include "known_store.hpp"
#include "support/hand_runtime.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

using backends::quorum::find_twins;
using backends::quorum::Member;
using backends::quorum::Members;
using backends::quorum::Stake;
using runtime::LocalTime;
using store::Standing;
using namespace std::chrono_literals;

class MemberTest : public testing::Test {
 public:
  Member& add(Standing standing, std::string address) {
    stores.push_back(std::make_shared<KnownStore>(backends::memory::make_memory_store(runtime)));
    stores.back()->set_standing(std::move(standing));
    members.push_back(std::make_unique<Member>(stores.back(), std::move(address)));
    members.back()->look_again(start);
    return *members.back();
  }

  static std::optional<std::string> grant(const Member& member, LocalTime now, Micros grace) {
    return member.why_not_counted(now, Stake::grant, 10s, grace);
  }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::vector<std::shared_ptr<KnownStore>> stores;
  Members members;
  const LocalTime start = runtime->now();
};

TEST_F(MemberTest, is_known_once_its_store_tells_who_it_is) {
  auto& member = add({}, "a:1");
  EXPECT_FALSE(member.is_known());
  EXPECT_FALSE(member.look_again(start));
  stores[0]->set_standing({.server = "one", .place = "0"});
  EXPECT_FALSE(member.is_known()) << "nobody has looked";
  EXPECT_TRUE(member.look_again(start));
  EXPECT_TRUE(member.is_known());
  EXPECT_EQ(member.standing().place, "0");
}

TEST_F(MemberTest, counts_if_nothing_is_known_against_it) {
  for (const auto stake : {Stake::nothing, Stake::grant, Stake::renewal}) {
    EXPECT_EQ(add({}, "a:1").why_not_counted(start, stake, 24h, 24h), std::nullopt);
    EXPECT_EQ(add({.server = "one"}, "b:1").why_not_counted(start, stake, 24h, 24h), std::nullopt);
  }
}

TEST_F(MemberTest, without_memory_grants_nothing_in_the_grace_after_its_start) {
  auto& member = add({.server = "one", .up_since = start}, "a:1");
  EXPECT_EQ(grant(member, start, 0s), std::nullopt) << "no grace was asked for";
  const auto reason = grant(member, start + 20s, 30s);
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(reason->find("counts in 10.0 s"), std::string::npos) << *reason;
  EXPECT_TRUE(grant(member, start + 30s - 1us, 30s).has_value());
  EXPECT_EQ(grant(member, start + 30s, 30s), std::nullopt);
}

// A short lease beside a long one: what was forgotten lasts as long as the long one.
TEST_F(MemberTest, waits_for_the_grace_and_not_for_the_ttl_of_whoever_asks) {
  auto& member = add({.server = "one", .up_since = start - 1h}, "a:1");
  stores[0]->set_standing({.server = "two", .up_since = start, .replaced_at = start});
  member.look_again(start);
  EXPECT_TRUE(member.why_not_counted(start + 2s, Stake::grant, 1s, 30s).has_value());
}

TEST_F(MemberTest, without_memory_renews_what_it_has_at_once) {
  auto& member = add({.server = "one", .up_since = start}, "a:1");
  EXPECT_EQ(member.why_not_counted(start, Stake::renewal, 10s, 30s), std::nullopt);
  EXPECT_EQ(member.why_not_counted(start, Stake::nothing, 10s, 30s), std::nullopt);
}

TEST_F(MemberTest, without_memory_keeps_no_lease_that_is_longer_than_the_grace) {
  auto& member = add({.server = "one", .up_since = start - 1h}, "a:1");
  for (const auto stake : {Stake::grant, Stake::renewal}) {
    EXPECT_EQ(member.why_not_counted(start, stake, 30s, 30s), std::nullopt);
    EXPECT_EQ(member.why_not_counted(start, stake, 31s, 30s),
              "may forget it; a ttl of 31.0 s is longer than grace, 30.0 s");
    EXPECT_EQ(member.why_not_counted(start, stake, 24h, 0s), std::nullopt);
  }
}

TEST_F(MemberTest, that_keeps_its_memory_needs_no_grace_after_a_restart) {
  auto& member = add({.server = "one", .up_since = start - 1h, .keeps_memory = true}, "a:1");
  member.heard(start);
  stores[0]->set_standing(
      {.server = "two", .up_since = start + 1s, .keeps_memory = true, .replaced_at = start + 2s});
  member.look_again(start + 2s);
  EXPECT_EQ(member.why_not_counted(start + 2s, Stake::grant, 24h, 30s), std::nullopt);
}

// An address that leads elsewhere: the new one has the memory of somebody else.
TEST_F(MemberTest, that_was_up_while_another_answered_for_it_is_not_its_restart) {
  auto& member = add({.server = "one", .up_since = start - 1h, .keeps_memory = true}, "a:1");
  member.heard(start);
  stores[0]->set_standing({.server = "two", .up_since = start - 5s, .keeps_memory = true});
  member.look_again(start + 1s);
  EXPECT_EQ(grant(member, start + 1s, 30s), "was replaced; counts again in 30.0 s");
  EXPECT_EQ(grant(member, start + 31s, 30s), std::nullopt);
}

TEST_F(MemberTest, that_got_the_data_of_another_has_forgotten_its_own) {
  auto& member = add({.server = "one", .up_since = start - 1h, .keeps_memory = true}, "a:1");
  stores[0]->set_standing(
      {.server = "one", .up_since = start - 1h, .keeps_memory = true, .replaced_at = start});
  member.look_again(start);
  EXPECT_EQ(grant(member, start + 10s, 30s), "was replaced; counts again in 20.0 s");
}

TEST_F(MemberTest, whose_start_is_not_known_counts_until_it_changes) {
  auto& member = add({.server = "one"}, "a:1");
  EXPECT_EQ(grant(member, start, 30s), std::nullopt);
  stores[0]->set_standing({.server = "two"});
  member.look_again(start);
  EXPECT_EQ(grant(member, start + 29s, 30s), "was replaced; counts again in 1.0 s");
}

TEST_F(MemberTest, that_says_nothing_of_itself_may_be_another_after_each_new_connection) {
  auto& member = add({}, "a:1");
  member.may_have_changed(start);
  EXPECT_EQ(grant(member, start, 30s), std::nullopt) << "it never answered before";
  member.heard(start);
  member.may_have_changed(start + 5s);
  EXPECT_EQ(grant(member, start + 5s, 30s), "was replaced; counts again in 30.0 s");
  EXPECT_EQ(grant(member, start + 5s, 0s), std::nullopt);
}

TEST_F(MemberTest, of_this_process_forgets_nothing) {
  auto known = std::make_shared<KnownStore>(backends::memory::make_memory_store(runtime));
  known->set_standing({.server = "one", .up_since = start});
  Member member(known, "memory:a", true);
  member.look_again(start);
  EXPECT_FALSE(member.is_forgetful());
  EXPECT_EQ(member.why_not_counted(start, Stake::grant, 24h, 30s), std::nullopt);
}

TEST_F(MemberTest, that_is_the_twin_of_another_never_counts) {
  auto& member = add({}, "a:1");
  member.is_twin_of("b:1");
  EXPECT_EQ(grant(member, start, 0s), "is the same server as b:1");
  member.is_twin_of({});
  EXPECT_EQ(grant(member, start, 0s), std::nullopt);
}

TEST_F(MemberTest, different_servers_and_unknown_ones_are_no_twins) {
  add({}, "a:1");
  add({}, "b:1");
  add({.server = "one", .place = "0"}, "c:1");
  add({.server = "two", .place = "0"}, "d:1");
  EXPECT_EQ(find_twins(members, false), std::nullopt);
}

TEST_F(MemberTest, the_same_server_twice_is_found_and_counted_once) {
  add({.server = "one", .place = "0"}, "a:1");
  add({.server = "two", .place = "0"}, "b:1");
  add({.server = "one", .place = "1"}, "c:1");
  EXPECT_EQ(find_twins(members, false), "a:1 and c:1 are the same server");
  EXPECT_EQ(grant(*members[0], start, 0s), std::nullopt);
  EXPECT_EQ(grant(*members[2], start, 0s), "is the same server as a:1");
}

TEST_F(MemberTest, several_databases_of_one_server_may_be_allowed_but_not_one_of_them_twice) {
  add({.server = "one", .place = "0"}, "a/0");
  add({.server = "one", .place = "1"}, "a/1");
  add({.server = "one", .place = "2"}, "a/2");
  EXPECT_EQ(find_twins(members, true), std::nullopt);
  add({.server = "one", .place = "1"}, "b/1");
  EXPECT_EQ(find_twins(members, true), "a/1 and b/1 are the same database");
  EXPECT_TRUE(grant(*members[3], start, 0s).has_value());
  EXPECT_FALSE(grant(*members[1], start, 0s).has_value());
}

TEST_F(MemberTest, a_twin_counts_again_once_it_is_another_server) {
  add({.server = "one"}, "a:1");
  add({.server = "one"}, "b:1");
  ASSERT_TRUE(find_twins(members, false).has_value());
  stores[1]->set_standing({.server = "two"});
  members[1]->look_again(start);
  EXPECT_EQ(find_twins(members, false), std::nullopt);
  EXPECT_EQ(grant(*members[1], start, 0s), std::nullopt);
}

}  // namespace
}  // namespace holdfast::test
