// SPDX-License-Identifier: Apache-2.0
//
// What a client says of a server that is gone, and of one that hangs.
#include "redis_fixture.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class RedisOutage : public RedisTest {};

TEST_F(RedisOutage, diagnose_of_a_server_that_is_gone_is_no_clean_bill) {
  const auto client = open_client();
  ASSERT_TRUE(client.diagnose());
  server.kill();
  const auto found = client.diagnose();
  ASSERT_FALSE(found) << found->size() << " sentences";
  EXPECT_EQ(found.error().code, Errc::unavailable);
}

TEST_F(RedisOutage, nor_is_that_of_one_that_hangs) {
  const auto client = open_client();
  server.stop();
  const auto found = client.diagnose();
  server.cont();
  ASSERT_FALSE(found) << found->size() << " sentences";
  EXPECT_EQ(found.error().code, Errc::unavailable);
}

TEST_F(RedisOutage, a_wait_on_a_server_that_is_gone_is_unavailable) {
  const auto client = open_client();
  server.kill();
  const auto lease = client.mutex("orders").acquire({.wait = 1s});
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Errc::unavailable) << lease.error().message;
  EXPECT_THAT(lease.error().message, HasSubstr("Connection refused"));
}

TEST_F(RedisOutage, a_wait_on_a_server_that_hangs_is_not_timed_out) {
  const auto client = open_client();
  server.stop();
  const auto lease = client.mutex("orders").acquire({.wait = 3s});
  server.cont();
  ASSERT_FALSE(lease);
  const auto code = lease.error().code;
  EXPECT_TRUE(code == Errc::unavailable || code == Errc::outcome_unknown) << lease.error().message;
}

}  // namespace
}  // namespace holdfast::test
