// SPDX-License-Identifier: Apache-2.0
//
// Numbers and limits on their way through Redis and back.
#include "real_lock.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

using testing::SizeIs;

class Wire : public RealLock {
 protected:
  // Asks under the requests 1 to `count`, many in one round trip, and returns how many were
  // answered like that.
  template <typename Outcome>
  std::size_t count_of(std::size_t count, Ask ask) {
    std::size_t found = 0;
    for (std::size_t done = 0; done < count;) {
      const std::size_t many = std::min<std::size_t>(1024, count - done);
      std::vector<model::LockCommand> sent;
      for (std::size_t i = 0; i < many; ++i) {
        ask.request = ++done;
        sent.push_back({spec_, to_command(spec_.kind, ask)});
        redis_.send(encode(scripts_, name_, sent.back(), {}));
      }
      for (const auto& command : sent) {
        const auto reply = backends::redis::decode(command, *redis_.receive());
        if (!reply) continue;
        found += std::holds_alternative<Outcome>(std::get<model::LockOutcome>(reply->outcome));
      }
    }
    return found;
  }
};

TEST_F(Wire, fences_and_places_above_a_thousand_million_million_survive) {
  redis_.call({"SET", std::string(backends::redis::counter_key), "8000000000000000"});
  EXPECT_EQ(granted(acquire({.owner = "ann"})).fence, 8'000'000'000'000'001);
  EXPECT_EQ(granted(renew("ann")).fence, 8'000'000'000'000'001);
  EXPECT_EQ(queued(acquire({.owner = "ben", .wait = true})).place, 8'000'000'000'000'002);
  const auto seen = state();
  ASSERT_THAT(seen.holds, SizeIs(1));
  EXPECT_EQ(seen.holds[0].fence, 8'000'000'000'000'001);
  ASSERT_THAT(seen.queue, SizeIs(1));
  EXPECT_EQ(seen.queue.begin()->first, 8'000'000'000'000'002);
}

TEST_F(Wire, a_waiter_gets_back_its_place) {
  acquire({.owner = "ann"});
  const auto place = queued(acquire({.owner = "ben", .wait = true})).place;
  queued(acquire({.owner = "cid", .wait = true}));
  release("ben");
  const auto again = queued(acquire({.owner = "ben", .wait = true, .place = place}));
  EXPECT_EQ(again.place, place);
  EXPECT_EQ(again.ahead, 0U);
}

TEST_F(Wire, a_fence_is_above_the_servers_clock_even_if_its_counter_was_lost) {
  const auto before = granted(acquire({.owner = "ann"})).fence;
  redis_.call({"FLUSHALL"});
  EXPECT_GT(granted(acquire({.owner = "ben"})).fence, before);
}

TEST_F(Wire, only_the_leases_of_one_source_are_forced) {
  spec_ = model::LockSpec::semaphore(4);
  acquire({.owner = "anna", .source = "job-1"});
  acquire({.owner = "bert", .request = 2, .note = "job-1", .source = "job-12"});
  acquire({.owner = "carl", .request = 3});
  acquire({.owner = "dora", .request = 4, .source = "job-1"});
  must_be<model::NotOwner>(apply({spec_, model::ForceRelease{.source = "job"}}));
  EXPECT_EQ(holders().size(), 4U);
  EXPECT_EQ(must_be<model::Forced>(apply({spec_, model::ForceRelease{.source = "job-1"}})).count,
            2U);
  EXPECT_THAT(holders(), testing::UnorderedElementsAre("bert", "carl"));
}

TEST_F(Wire, there_is_an_end_to_holders) {
  spec_ = model::LockSpec::semaphore(20'000);
  const auto most = model::limits::max_holders;
  EXPECT_EQ(count_of<model::Granted>(most, {.owner = "ann", .ttl = 60s}), most);
  EXPECT_EQ(refused(acquire({.owner = "ben"})), Errc::limit_reached);
  EXPECT_THAT(state().holds, SizeIs(most));
  release("ann", 0);
  EXPECT_EQ(redis_.integer({"DBSIZE"}), 1);
}

TEST_F(Wire, there_is_an_end_to_waiters) {
  granted(acquire({.owner = "ann", .ttl = 60s}));
  const auto most = model::limits::max_waiters;
  EXPECT_EQ(count_of<model::Queued>(most, {.owner = "ben", .wait = true}), most);
  EXPECT_EQ(refused(acquire({.owner = "cid", .wait = true})), Errc::limit_reached);
  EXPECT_THAT(state().queue, SizeIs(most));
  // Nobody listens: they are all gone when their turn comes.
  release("ann");
  EXPECT_EQ(redis_.integer({"DBSIZE"}), 1);
}

}  // namespace
}  // namespace holdfast::test
