// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/leases.hpp"

#include "support/ask.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

using backends::quorum::KnownLease;
using backends::quorum::Leases;
using model::RequestId;
using runtime::LocalTime;

const LockName name = LockName::make("orders:42").value();
const OwnerId anna = owner_named("anna");
const LocalTime start{1000s};

TEST(Leases, are_found_by_name_owner_and_request) {
  Leases leases;
  leases.put(name, anna, {.request = RequestId{1}, .fence = 7, .valid_until = start + 10s}, start);
  ASSERT_TRUE(leases.find(name, anna, RequestId{1}).has_value());
  EXPECT_EQ(leases.find(name, anna, RequestId{1})->fence, 7U);
  EXPECT_FALSE(leases.find(name, anna, RequestId{2}).has_value());
  EXPECT_FALSE(leases.find(name, owner_named("ben"), RequestId{1}).has_value());
  EXPECT_FALSE(leases.find(LockName::make("other").value(), anna, RequestId{1}).has_value());
}

TEST(Leases, are_found_without_a_request_if_the_owner_has_only_one) {
  Leases leases;
  EXPECT_FALSE(leases.find(name, anna, RequestId::any).has_value());
  leases.put(name, anna, {.request = RequestId{9}, .fence = 7, .valid_until = start + 10s}, start);
  leases.put(name, owner_named("ann"), {.request = RequestId{1}, .fence = 8}, start);
  ASSERT_TRUE(leases.find(name, anna, RequestId::any).has_value());
  EXPECT_EQ(leases.find(name, anna, RequestId::any)->request, RequestId{9});
  leases.put(name, anna, {.request = RequestId{10}, .valid_until = start + 10s}, start);
  EXPECT_FALSE(leases.find(name, anna, RequestId::any).has_value());
  leases.erase(name, anna, RequestId::any);
  EXPECT_FALSE(leases.find(name, anna, RequestId{9}).has_value());
  EXPECT_FALSE(leases.find(name, anna, RequestId{10}).has_value());
  EXPECT_TRUE(leases.find(name, owner_named("ann"), RequestId{1}).has_value());
}

TEST(Leases, are_erased_up_to_a_fence) {
  Leases leases;
  leases.put(name, anna, {.request = RequestId{1}, .fence = 7}, start);
  leases.put(name, anna, {.request = RequestId{2}, .fence = 9}, start);
  const auto older = leases.erase(name, anna, RequestId::any, 7);
  ASSERT_TRUE(older.has_value());
  EXPECT_EQ(older->request, RequestId{1});
  EXPECT_FALSE(leases.erase(name, anna, RequestId::any, 8).has_value());
  EXPECT_TRUE(leases.find(name, anna, RequestId{2}).has_value()) << "it goes on being repaired";
  EXPECT_TRUE(leases.erase(name, anna, RequestId{2}, 1).has_value()) << "meant by its request";
}

TEST(Leases, know_where_they_may_be) {
  Leases leases;
  leases.put(name, anna, {.request = RequestId{1}, .may_be_at = 0b00101}, start);
  leases.is_also_at(name, anna, RequestId{1}, 4);
  leases.is_also_at(name, anna, RequestId{2}, 3);
  EXPECT_EQ(leases.find(name, anna, RequestId{1})->may_be_at, 0b10101);
}

TEST(Leases, get_longer_and_never_shorter) {
  Leases leases;
  leases.put(name, anna, {.request = RequestId{1}, .valid_until = start + 10s}, start);
  leases.extend(name, anna, RequestId{1}, start + 20s);
  EXPECT_EQ(leases.find(name, anna, RequestId{1})->valid_until, start + 20s);
  leases.extend(name, anna, RequestId{1}, start + 15s);
  EXPECT_EQ(leases.find(name, anna, RequestId{1})->valid_until, start + 20s);
}

TEST(Leases, that_were_released_do_not_come_back) {
  Leases leases;
  leases.put(name, anna, {.request = RequestId{1}, .valid_until = start + 10s}, start);
  leases.erase(name, anna, RequestId{1});
  leases.extend(name, anna, RequestId{1}, start + 20s);
  EXPECT_FALSE(leases.find(name, anna, RequestId{1}).has_value());
}

TEST(Leases, that_ended_make_room_and_others_stay) {
  Leases leases;
  leases.put(name, anna, {.request = RequestId{1}, .valid_until = start + 1h}, start);
  for (std::uint64_t each = 2; each <= 64; ++each) {
    leases.put(name, anna, {.request = RequestId{each}, .valid_until = start + 1s}, start);
  }
  EXPECT_TRUE(leases.find(name, anna, RequestId{2}).has_value());
  leases.put(name, anna, {.request = RequestId{65}, .valid_until = start + 1h}, start + 2s);
  EXPECT_FALSE(leases.find(name, anna, RequestId{2}).has_value());
  EXPECT_TRUE(leases.find(name, anna, RequestId{1}).has_value());
  EXPECT_TRUE(leases.find(name, anna, RequestId{65}).has_value());
}

}  // namespace
}  // namespace holdfast::test
