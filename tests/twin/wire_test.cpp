// SPDX-License-Identifier: Apache-2.0
//
// Numbers and limits on their way through Redis and back.
#include "real_lock.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

using testing::SizeIs;

class Wire : public RealLock {};

TEST_F(Wire, fences_and_places_above_a_thousand_million_million_survive) {
  redis.call({"SET", std::string(backends::redis::counter_key), "8000000000000000"});
  EXPECT_EQ(granted(acquire({.owner = "ann"}).value()).fence, 8'000'000'000'000'001);
  EXPECT_EQ(granted(renew("ann").value()).fence, 8'000'000'000'000'001);
  EXPECT_EQ(queued(acquire({.owner = "ben", .wait = true}).value()).place, 8'000'000'000'000'002);
  const auto seen = state();
  ASSERT_THAT(seen.holds, SizeIs(1));
  EXPECT_EQ(seen.holds[0].fence, 8'000'000'000'000'001);
  ASSERT_THAT(seen.queue, SizeIs(1));
  EXPECT_EQ(seen.queue.begin()->first, 8'000'000'000'000'002);
}

TEST_F(Wire, a_waiter_gets_back_its_place) {
  acquire({.owner = "ann"});
  const auto place = queued(acquire({.owner = "ben", .wait = true}).value()).place;
  queued(acquire({.owner = "cid", .wait = true}).value());
  release("ben");
  const auto again = queued(acquire({.owner = "ben", .wait = true, .place = place}).value());
  EXPECT_EQ(again.place, place);
  EXPECT_EQ(again.ahead, 0U);
}

TEST_F(Wire, a_fence_is_above_the_servers_clock_even_if_its_counter_was_lost) {
  const auto before = granted(acquire({.owner = "ann"}).value()).fence;
  redis.call({"FLUSHALL"});
  EXPECT_GT(granted(acquire({.owner = "ben"}).value()).fence, before);
}

TEST_F(Wire, there_is_an_end_to_holders) {
  spec = model::LockSpec::semaphore(20'000);
  for (std::uint64_t i = 1; i <= model::limits::max_holders; ++i) {
    ASSERT_NO_FATAL_FAILURE(granted(acquire({.owner = "ann", .request = i, .ttl = 60s}).value()));
  }
  EXPECT_EQ(refused(acquire({.owner = "ben"}).value()), Errc::limit_reached);
  EXPECT_THAT(state().holds, SizeIs(model::limits::max_holders));
  release("ann", 0);
  EXPECT_EQ(redis.integer({"DBSIZE"}), 1);
}

TEST_F(Wire, there_is_an_end_to_waiters) {
  granted(acquire({.owner = "ann", .ttl = 60s}).value());
  for (std::uint64_t i = 1; i <= model::limits::max_waiters; ++i) {
    ASSERT_NO_FATAL_FAILURE(queued(acquire({.owner = "ben", .request = i, .wait = true}).value()));
  }
  EXPECT_EQ(refused(acquire({.owner = "cid", .wait = true}).value()), Errc::limit_reached);
  EXPECT_THAT(state().queue, SizeIs(model::limits::max_waiters));
  // Nobody listens: they are all gone when their turn comes.
  release("ann");
  EXPECT_EQ(redis.integer({"DBSIZE"}), 1);
}

}  // namespace
}  // namespace holdfast::test
