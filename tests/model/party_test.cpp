// SPDX-License-Identifier: Apache-2.0
#include "model/party.hpp"

#include "model/lock_state.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace holdfast::model {
namespace {

// printf 'holdfast partyanna' | sha256sum
TEST(Party, it_is_the_beginning_of_the_documented_digest) {
  EXPECT_EQ(party_of("anna"), 0x09ed85f7e5e5b41bU);
}

TEST(Party, owners_that_look_alike_are_different_parties) {
  std::set<std::uint64_t> parties;
  for (int i = 0; i < 1000; ++i) parties.insert(party_of("owner-" + std::to_string(i)));
  parties.insert(party_of(std::string(max_owner_bytes, 'o')));
  parties.insert(party_of(std::string(max_owner_bytes - 1, 'o')));
  EXPECT_EQ(parties.size(), 1002U);
  EXPECT_FALSE(parties.contains(0));
}

}  // namespace
}  // namespace holdfast::model
