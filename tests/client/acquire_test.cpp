// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

#include <limits>

namespace holdfast::test {
namespace {

class Acquire : public ClientTest {};

TEST_F(Acquire, a_free_lock_is_had_with_one_command) {
  const auto lease = mine.take("orders", {.ttl = 10s});
  EXPECT_EQ(lease.name().str(), "orders");
  EXPECT_EQ(lease.owner().str().size(), 32U);
  EXPECT_GT(lease.fence(), 0U);
  EXPECT_TRUE(lease.valid());
  EXPECT_FALSE(lease.lost().stop_requested());
  EXPECT_EQ(mine.line->history().size(), 1U);
  EXPECT_EQ(holders("orders"), 1U);
}

TEST_F(Acquire, a_held_lock_is_busy_at_once_and_the_message_says_who_has_it) {
  const auto lease = mine.take("orders");
  auto refused = other.acquire("orders");
  EXPECT_EQ(error_of(refused.result()), Errc::busy);
  EXPECT_NE(refused.result().error().message.find("'orders' has been held by"), std::string::npos);
  EXPECT_EQ(waiters("orders"), 0U);
}

TEST_F(Acquire, the_end_of_the_handle_gives_the_lock_back) {
  {
    const auto lease = mine.take("orders");
  }
  EXPECT_TRUE(is_free("orders"));
}

TEST_F(Acquire, a_lease_that_is_moved_is_held_by_its_new_place_only) {
  auto first = mine.take("a");
  auto second = mine.take("b");
  first = std::move(second);
  EXPECT_TRUE(is_free("a"));
  EXPECT_EQ(first.name().str(), "b");
  EXPECT_EQ(holders("b"), 1U);
}

TEST_F(Acquire, a_refused_option_changes_nothing_in_the_store) {
  const AcquireOptions bad[] = {
      {.ttl = 10s, .wait = -1us},        {.ttl = 10s, .wait = max_wait + 1us},
      {.ttl = 10s, .renew_every = -1ms}, {.ttl = 10s, .renew_every = 999us},
      {.ttl = 10s, .renew_every = 6s},   {.ttl = 10s, .max_hold = 9s},
      {.ttl = 10s, .permits = 0},        {.ttl = 10s, .permits = 2},
  };
  for (const auto& options : bad) {
    EXPECT_EQ(error_of(mine.api.mutex("orders").acquire(options)), Errc::bad_input);
  }
  EXPECT_EQ(mine.line->history().size(), 0U);
}

TEST_F(Acquire, a_ttl_that_is_not_a_time_is_refused_and_never_deletes_a_lock) {
  auto lease = mine.take("orders", {.ttl = 10s});
  const Duration bad[] = {0us,
                          -1us,
                          min_ttl - 1us,
                          max_ttl + 1us,
                          Duration::max(),
                          Duration::min(),
                          Duration(std::numeric_limits<std::int64_t>::max() / 2)};
  for (const Duration ttl : bad) {
    EXPECT_EQ(error_of(mine.api.mutex("free").acquire({.ttl = ttl})), Errc::bad_input);
    EXPECT_EQ(error_of(lease.extend(ttl)), Errc::bad_input);
  }
  EXPECT_EQ(holders("orders"), 1U);
  EXPECT_TRUE(lease.valid());
}

TEST_F(Acquire, a_bad_name_is_reported_by_the_first_use) {
  for (const std::string_view name :
       {std::string_view(""), std::string_view("a\nb"), std::string_view("\xff")}) {
    EXPECT_EQ(error_of(mine.api.mutex(name).try_acquire()), Errc::bad_input);
  }
  EXPECT_EQ(error_of(mine.api.semaphore("s", 0).try_acquire()), Errc::bad_input);
  EXPECT_EQ(error_of(mine.api.semaphore("s", 3).try_acquire({.permits = 4})), Errc::bad_input);
}

TEST_F(Acquire, the_same_name_as_another_kind_is_a_mismatch) {
  const auto lease = mine.take("orders");
  EXPECT_EQ(error_of(other.api.semaphore("orders", 3).try_acquire()), Errc::spec_mismatch);
}

TEST_F(Acquire, a_semaphore_gives_out_its_permits_and_no_more) {
  auto semaphore = mine.api.semaphore("pool", 3);
  const auto two = value_of(semaphore.acquire({.permits = 2}));
  const auto one = value_of(semaphore.acquire());
  EXPECT_EQ(error_of(semaphore.acquire()), Errc::busy);
}

TEST_F(Acquire, followers_see_the_value_of_the_leader) {
  auto election = mine.api.election("boss");
  EXPECT_EQ(value_of(election.leader()), std::nullopt);
  auto lease = value_of(election.campaign("10.0.0.1:80"));
  EXPECT_EQ(value_of(other.api.election("boss").leader()), "10.0.0.1:80");
  EXPECT_EQ(error_of(other.api.election("boss").campaign("10.0.0.2:80")), Errc::busy);
}

TEST_F(Acquire, a_store_that_refuses_makes_a_try_unavailable) {
  mine.line->script(Verb::acquire, Fault::refuse());
  EXPECT_EQ(error_of(mine.acquire("orders").result()), Errc::unavailable);
  EXPECT_EQ(mine.line->count(Verb::acquire), 1U);
  EXPECT_EQ(mine.line->count(Verb::release), 0U) << "nothing happened, so nothing is cleaned up";
}

TEST_F(Acquire, a_paused_store_makes_a_try_unavailable_after_the_time_of_one_command) {
  mine.line->pause();
  auto acquiring = mine.acquire("orders");
  advance(client::command_timeout - 1us);
  EXPECT_FALSE(acquiring.done());
  advance(1us);
  EXPECT_EQ(error_of(acquiring.result()), Errc::unavailable);
}

TEST_F(Acquire, a_wait_outlives_a_store_that_is_away_for_a_moment) {
  mine.line->script(Verb::acquire, Fault::refuse(), 3);
  auto acquiring = mine.acquire("orders", {.wait = 5s});
  EXPECT_FALSE(acquiring.done());
  advance(200ms);
  EXPECT_TRUE(acquiring.result().has_value());
  EXPECT_EQ(mine.line->count(Verb::acquire), 4U);
}

}  // namespace
}  // namespace holdfast::test
