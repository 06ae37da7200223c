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
using runtime::LocalTime;
using store::Standing;
using namespace std::chrono_literals;

class MemberTest : public testing::Test {
 public:
  Member& add(Standing standing, std::string address) {
    stores.push_back(std::make_shared<KnownStore>(backends::memory::make_memory_store(runtime)));
    stores.back()->set_standing(std::move(standing));
    members.push_back(std::make_unique<Member>(stores.back(), std::move(address)));
    members.back()->look_again();
    return *members.back();
  }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::vector<std::shared_ptr<KnownStore>> stores;
  Members members;
  const LocalTime start = runtime->now();
};

TEST_F(MemberTest, is_known_once_its_store_tells_who_it_is) {
  auto& member = add({}, "a:1");
  EXPECT_FALSE(member.is_known());
  EXPECT_FALSE(member.look_again());
  stores[0]->set_standing({.server = "one", .place = "0"});
  EXPECT_FALSE(member.is_known()) << "nobody has looked";
  EXPECT_TRUE(member.look_again());
  EXPECT_TRUE(member.is_known());
  EXPECT_EQ(member.standing().place, "0");
}

TEST_F(MemberTest, counts_if_nothing_is_known_against_it) {
  EXPECT_EQ(add({}, "a:1").why_not_counted(start, 24h, 24h), std::nullopt);
  EXPECT_EQ(add({.server = "one"}, "b:1").why_not_counted(start, 24h, 24h), std::nullopt);
}

TEST_F(MemberTest, that_was_replaced_does_not_count_until_what_it_forgot_has_ended) {
  auto& member = add({.server = "two", .keeps_memory = true, .replaced_at = start}, "a:1");
  const auto reason = member.why_not_counted(start, 10s, 0s);
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(reason->find("was restarted; counts again in 10.0 s"), std::string::npos) << *reason;
  EXPECT_TRUE(member.why_not_counted(start + 10s - 1us, 10s, 0s).has_value());
  EXPECT_FALSE(member.why_not_counted(start + 10s, 10s, 0s).has_value());
  EXPECT_FALSE(member.why_not_counted(start + 5s, 5s, 0s).has_value()) << "a shorter lease";
}

TEST_F(MemberTest, without_memory_does_not_count_in_the_grace_after_its_start) {
  auto& member = add({.server = "one", .up_since = start}, "a:1");
  EXPECT_FALSE(member.why_not_counted(start, 10s, 0s).has_value()) << "no grace was asked for";
  const auto reason = member.why_not_counted(start + 20s, 10s, 30s);
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(reason->find("counts in 10.0 s"), std::string::npos) << *reason;
  EXPECT_TRUE(member.why_not_counted(start + 30s - 1us, 10s, 30s).has_value());
  EXPECT_FALSE(member.why_not_counted(start + 30s, 10s, 30s).has_value());
}

TEST_F(MemberTest, that_keeps_its_memory_needs_no_grace) {
  auto& member = add({.server = "one", .up_since = start, .keeps_memory = true}, "a:1");
  EXPECT_FALSE(member.why_not_counted(start, 10s, 30s).has_value());
}

TEST_F(MemberTest, whose_start_is_not_known_needs_no_grace) {
  auto& member = add({.server = "one"}, "a:1");
  EXPECT_FALSE(member.why_not_counted(start, 10s, 30s).has_value());
}

TEST_F(MemberTest, that_is_the_twin_of_another_never_counts) {
  auto& member = add({}, "a:1");
  member.is_twin_of("b:1");
  EXPECT_EQ(member.why_not_counted(start, 10s, 0s), "is the same server as b:1");
  member.is_twin_of({});
  EXPECT_EQ(member.why_not_counted(start, 10s, 0s), std::nullopt);
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
  EXPECT_EQ(members[0]->why_not_counted(start, 1s, 0s), std::nullopt);
  EXPECT_EQ(members[2]->why_not_counted(start, 1s, 0s), "is the same server as a:1");
}

TEST_F(MemberTest, several_databases_of_one_server_may_be_allowed_but_not_one_of_them_twice) {
  add({.server = "one", .place = "0"}, "a/0");
  add({.server = "one", .place = "1"}, "a/1");
  add({.server = "one", .place = "2"}, "a/2");
  EXPECT_EQ(find_twins(members, true), std::nullopt);
  add({.server = "one", .place = "1"}, "b/1");
  EXPECT_EQ(find_twins(members, true), "a/1 and b/1 are the same database");
  EXPECT_TRUE(members[3]->why_not_counted(start, 1s, 0s).has_value());
  EXPECT_FALSE(members[1]->why_not_counted(start, 1s, 0s).has_value());
}

TEST_F(MemberTest, a_twin_counts_again_once_it_is_another_server) {
  add({.server = "one"}, "a:1");
  add({.server = "one"}, "b:1");
  ASSERT_TRUE(find_twins(members, false).has_value());
  stores[1]->set_standing({.server = "two"});
  members[1]->look_again();
  EXPECT_EQ(find_twins(members, false), std::nullopt);
  EXPECT_EQ(members[1]->why_not_counted(start, 1s, 0s), std::nullopt);
}

}  // namespace
}  // namespace holdfast::test
