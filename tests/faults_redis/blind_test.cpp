// SPDX-License-Identifier: Apache-2.0
//
// Tests that find nothing are believed only if they find what is there.
#include "faults_redis/faults_fixture.hpp"

#include <gmock/gmock.h>

namespace holdfast::faults {

namespace {

using testing::HasSubstr;

class Recording : public FaultsTest {
 public:
  // Not the history that is checked at the end.
  SharedLog own{mixed_names()};
  test::RawRedis raw{server};
};

TEST_F(Recording, shows_two_holders_of_a_lock_that_was_deleted_behind_their_backs) {
  Caller one(must_open(), own, 1);
  Caller other(must_open(), own, 2);
  auto first = one.acquire({.lock = {.name = 1}, .ttl = 30s});
  ASSERT_TRUE(first);
  EXPECT_EQ(raw.integer({"DEL", "hf:{m1}"}), 1);
  auto second = other.acquire({.lock = {.name = 1}, .ttl = 30s});
  ASSERT_TRUE(second);
  EXPECT_TRUE(other.release(*second));
  EXPECT_TRUE(one.release(*first));
  EXPECT_THAT(broken_promises(own, ""), HasSubstr("C2 no_overlap"));
}

TEST_F(Recording, shows_a_fence_that_goes_back) {
  Caller caller(must_open(), own, 1);
  auto first = caller.acquire({.lock = {.name = 1}, .ttl = 30s});
  ASSERT_TRUE(first);
  EXPECT_TRUE(caller.release(*first));
  const OpId op = own.asked({.name = 1, .process = 1, .ttl = 30'000 * millisecond});
  own.add({.until = own.now() + millisecond, .fence = 1, .op = op, .what = What::granted});
  own.add({.op = op, .what = What::releasing});
  EXPECT_THAT(broken_promises(own, ""), HasSubstr("C1 fences_grow"));
}

TEST_F(Recording, shows_a_loss_that_nobody_was_told_of) {
  Caller caller(must_open(), own, 1);
  auto hold = caller.acquire({.lock = {.name = 1}, .ttl = 200ms, .renew = false});
  ASSERT_TRUE(hold);
  hold->lease.on_lost({});
  EXPECT_TRUE(eventually([&] { return own.now() > hold->until; }));
  EXPECT_FALSE(caller.look(*hold));
  EXPECT_TRUE(caller.release(*hold));
  EXPECT_THAT(broken_promises(own, ""), HasSubstr("C9 loss_told_in_time"));
}

}  // namespace

}  // namespace holdfast::faults
