// SPDX-License-Identifier: Apache-2.0
//
// Who is who where locks are shared with programs we did not write.
#include "model/party.hpp"

#include "redis_fixture.hpp"

namespace holdfast::test {
namespace {

class RedisParty : public RedisTest {};

TEST_F(RedisParty, a_stranger_is_a_party_by_its_token) {
  const auto client = open_client("?dialect=plain");
  raw.call({"SET", "lock:orders", "their token", "PX", "10000"});
  const auto seen = client.inspect("orders").value();
  ASSERT_EQ(seen.holders.size(), 1U);
  EXPECT_EQ(seen.holders[0].party, model::party_of("their token"));
}

TEST_F(RedisParty, two_locks_of_one_stranger_are_one_party) {
  const auto client = open_client("?dialect=plain");
  raw.call({"SET", "lock:a", "theirs", "PX", "10000"});
  raw.call({"SET", "lock:b", "theirs", "PX", "10000"});
  raw.call({"SET", "lock:c", "others", "PX", "10000"});
  const auto party = [&](const char* name) { return client.inspect(name)->holders.at(0).party; };
  EXPECT_EQ(party("a"), party("b"));
  EXPECT_NE(party("a"), party("c"));
}

TEST_F(RedisParty, whoever_has_not_said_its_name_is_no_party) {
  const auto client = open_client("?dialect=counter");
  raw.call({"SET", "n8n-lock-orders", "1", "PX", "10000"});
  const auto seen = client.inspect("orders").value();
  ASSERT_EQ(seen.holders.size(), 1U);
  EXPECT_EQ(seen.holders[0].party, 0U);
}

}  // namespace
}  // namespace holdfast::test
