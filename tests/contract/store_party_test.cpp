// SPDX-License-Identifier: Apache-2.0
//
// Who is who in what an observer sees: the same owner is the same party everywhere, and no view
// gives its token away.
#include "store_contract.hpp"
#include "text/json.hpp"

#include <boost/json/serialize.hpp>

#include <map>

namespace holdfast::test {

TEST_P(StoreContract, an_owner_is_the_same_party_wherever_it_holds_and_waits) {
  granted(acquire({.owner = "anna"}, "first"));
  granted(acquire({.owner = "ben"}, "second"));
  granted(acquire({.owner = "anna", .request = 2}, "third"));
  auto anna = queue_up({.owner = "anna", .request = 101}, "second");
  auto ben = queue_up({.owner = "ben", .request = 102}, "first");
  const auto first = inspect("first");
  const auto second = inspect("second");
  ASSERT_EQ(first.waiters.size(), 1U);
  ASSERT_EQ(second.waiters.size(), 1U);
  const auto party_of_anna = first.holders[0].party;
  const auto party_of_ben = second.holders[0].party;
  EXPECT_NE(party_of_anna, 0U);
  EXPECT_NE(party_of_ben, 0U);
  EXPECT_NE(party_of_anna, party_of_ben);
  EXPECT_EQ(inspect("third").holders[0].party, party_of_anna);
  EXPECT_EQ(second.waiters[0].party, party_of_anna);
  EXPECT_EQ(first.waiters[0].party, party_of_ben);
}

TEST_P(StoreContract, a_listing_tells_the_same_parties_as_a_look) {
  granted(acquire({.owner = "anna"}));
  auto ben = queue_up({.owner = "ben", .request = 101});
  const auto page = list("");
  const auto seen = inspect();
  ASSERT_EQ(page.locks.size(), 1U);
  ASSERT_EQ(page.locks[0].waiters.size(), 1U);
  EXPECT_EQ(page.locks[0].holders[0].party, seen.holders[0].party);
  EXPECT_EQ(page.locks[0].waiters[0].party, seen.waiters[0].party);
}

TEST_P(StoreContract, the_holds_of_one_owner_on_one_lock_are_one_party) {
  spec = Spec::read_write();
  granted(acquire({.owner = "anna", .request = 1, .permits = 1}));
  granted(acquire({.owner = "anna", .request = 2, .permits = 1}));
  granted(acquire({.owner = "ben", .request = 3, .permits = 1}));
  std::map<std::uint64_t, int> holds;
  for (const auto& holder : inspect().holders) ++holds[holder.party];
  ASSERT_EQ(holds.size(), 2U);
  EXPECT_EQ(holds.begin()->second + holds.rbegin()->second, 3);
}

TEST_P(StoreContract, no_view_gives_an_owner_token_away) {
  const std::string anna = "the token of anna";
  const std::string ben = "the token of ben";
  granted(acquire({.owner = anna, .note = "nightly"}));
  auto waiter = queue_up({.owner = ben, .request = 101, .note = "hourly"});
  const auto text = boost::json::serialize(text::to_json(inspect(), {}));
  EXPECT_NE(text.find("nightly"), std::string::npos) << text;
  EXPECT_NE(text.find("hourly"), std::string::npos) << text;
  EXPECT_EQ(text.find("token"), std::string::npos) << text;
  const auto listed = boost::json::serialize(text::to_json(list(""), {}));
  EXPECT_EQ(listed.find("token"), std::string::npos) << listed;
}

}  // namespace holdfast::test
