// SPDX-License-Identifier: Apache-2.0
#include "server/deadlock/deadlock.hpp"

#include "server/deadlock/detector.hpp"
#include "some_views.hpp"
#include "support/timing.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

HolderView held_by(std::uint64_t party, std::uint32_t permits = all_permits) {
  return {.party = party, .permits = permits, .remaining = 30s, .metadata = nullptr};
}

WaiterView wanted_by(std::uint64_t party, std::uint32_t permits = all_permits,
                     Micros waiting_for = 5s) {
  return {.party = party, .permits = permits, .waiting_for = waiting_for, .metadata = nullptr};
}

LockView lock_of(std::string name, std::vector<HolderView> holders, std::vector<WaiterView> waiters,
                 Kind kind = Kind::mutex, std::uint32_t capacity = all_permits) {
  return {.name = std::move(name),
          .kind = kind,
          .capacity = capacity,
          .holders = std::move(holders),
          .waiters = std::move(waiters)};
}

std::shared_ptr<const Metadata> process(std::int64_t pid, std::int64_t started_ms = 0) {
  const ProcessInfo info{.host = "web-1", .pid = pid, .started_ms = started_ms};
  return std::make_shared<Metadata>(Metadata{.process = std::make_shared<ProcessInfo>(info)});
}

TEST(Deadlock, two_that_wait_for_each_other) {
  const auto found = find_deadlocks({lock_of("a", {held_by(1)}, {wanted_by(2, all_permits, 3s)}),
                                     lock_of("b", {held_by(2)}, {wanted_by(1, all_permits, 8s)})},
                                    noon);
  ASSERT_THAT(found, SizeIs(1));
  const auto& members = found[0].members;
  ASSERT_THAT(members, SizeIs(2));
  EXPECT_EQ(members[0].node, "party 0000000000000001");
  EXPECT_THAT(members[0].holds, ElementsAre("a"));
  EXPECT_EQ(members[0].waits_for, "b");
  EXPECT_EQ(members[1].waits_for, "a");
  EXPECT_EQ(members[found[0].victim].party, 2U);
  EXPECT_EQ(found[0].since, noon - 3s);
  EXPECT_EQ(found[0].id.size(), 16U);
}

TEST(Deadlock, three_in_a_ring_and_one_who_only_waits_behind_them) {
  const auto found = find_deadlocks(
      {lock_of("a", {held_by(1)}, {wanted_by(2), wanted_by(9)}),
       lock_of("b", {held_by(2)}, {wanted_by(3)}), lock_of("c", {held_by(3)}, {wanted_by(1)})},
      noon);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].members, SizeIs(3));
}

TEST(Deadlock, its_id_does_not_depend_on_the_order_of_a_listing) {
  const auto a = lock_of("a", {held_by(1)}, {wanted_by(2)});
  const auto b = lock_of("b", {held_by(2)}, {wanted_by(1)});
  const auto id = find_deadlocks({a, b}, noon)[0].id;
  EXPECT_EQ(find_deadlocks({b, a}, noon + 1h)[0].id, id);
  EXPECT_NE(find_deadlocks({a, lock_of("c", {held_by(2)}, {wanted_by(1)})}, noon)[0].id, id);
}

TEST(Deadlock, who_waits_for_itself_is_not_one) {
  EXPECT_THAT(find_deadlocks({lock_of("a", {held_by(1)}, {wanted_by(1)})}, noon), IsEmpty());
}

TEST(Deadlock, unknown_holders_go_on) {
  EXPECT_THAT(find_deadlocks({lock_of("a", {held_by(0)}, {wanted_by(2)}),
                              lock_of("b", {held_by(2)}, {wanted_by(0)})},
                             noon),
              IsEmpty());
}

TEST(Deadlock, a_process_is_one_party_whatever_its_owners_are) {
  auto a = lock_of("a", {held_by(1)}, {wanted_by(2)});
  auto b = lock_of("b", {held_by(3)}, {wanted_by(4)});
  a.holders[0].metadata = b.waiters[0].metadata = process(4711, 5);
  b.holders[0].metadata = a.waiters[0].metadata = process(815, 5);
  const auto found = find_deadlocks({a, b}, noon);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].members[0].node, "web-1:4711");
  b.waiters[0].metadata = process(4711, 6);  // the pid was given again
  EXPECT_THAT(find_deadlocks({a, b}, noon), IsEmpty());
}

TEST(Deadlock, readers_do_not_wait_for_readers) {
  const auto rw = Kind::read_write;
  EXPECT_THAT(find_deadlocks({lock_of("a", {held_by(1, 1)}, {wanted_by(2, 1)}, rw),
                              lock_of("b", {held_by(2)}, {wanted_by(1)})},
                             noon),
              IsEmpty());
}

TEST(Deadlock, a_reader_that_reads_again_behind_a_writer) {
  const auto found = find_deadlocks(
      {lock_of("a", {held_by(1, 1)}, {wanted_by(2), wanted_by(1, 1)}, Kind::read_write)}, noon);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].members, SizeIs(2));
}

TEST(Deadlock, an_upgrade_waits_for_the_other_readers_only) {
  const auto rw = Kind::read_write;
  const auto upgrade = lock_of("a", {held_by(1, 1), held_by(2, 1)}, {wanted_by(1)}, rw);
  EXPECT_THAT(find_deadlocks({upgrade}, noon), IsEmpty());
  EXPECT_THAT(find_deadlocks({upgrade, lock_of("b", {held_by(1)}, {wanted_by(2)})}, noon),
              SizeIs(1));
  EXPECT_THAT(
      find_deadlocks(
          {lock_of("a", {held_by(1, 1), held_by(2, 1)}, {wanted_by(1), wanted_by(2)}, rw)}, noon),
      SizeIs(1));
}

TEST(Deadlock, one_holder_of_a_semaphore_that_goes_on_is_enough) {
  const auto stuck = lock_of("b", {held_by(3)}, {wanted_by(1)});
  const auto semaphore = [](std::vector<HolderView> holders) {
    return lock_of("s", std::move(holders), {wanted_by(3, 1)}, Kind::semaphore, 2);
  };
  EXPECT_THAT(find_deadlocks({semaphore({held_by(1, 1), held_by(2, 1)}), stuck}, noon), IsEmpty());
  EXPECT_THAT(find_deadlocks({semaphore({held_by(1, 2)}), stuck}, noon), SizeIs(1));
  EXPECT_THAT(find_deadlocks({semaphore({held_by(1, 1), held_by(1, 1)}), stuck}, noon), SizeIs(1));
}

TEST(Deadlock, a_small_wait_behind_a_large_one_that_its_own_permit_keeps_waiting) {
  EXPECT_THAT(find_deadlocks({lock_of("s", {held_by(1, 1)}, {wanted_by(2, 3), wanted_by(1, 1)},
                                      Kind::semaphore, 3)},
                             noon),
              SizeIs(1));
}

TEST(Deadlock, a_long_chain_is_none_and_closing_it_makes_one) {
  std::vector<LockView> chain;
  constexpr std::uint64_t length = 20'000;
  for (std::uint64_t i = 1; i <= length; ++i) {
    chain.push_back(lock_of(fmt::format("l{}", i), {held_by(i)}, {wanted_by(i + 1)}));
  }
  EXPECT_THAT(find_deadlocks(chain, noon), IsEmpty());
  chain.push_back(lock_of("last", {held_by(length + 1)}, {wanted_by(1)}));
  const auto found = find_deadlocks(chain, noon);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].members, SizeIs(length + 1));
}

TEST(Deadlock, two_rings_are_two) {
  EXPECT_THAT(find_deadlocks({lock_of("a", {held_by(1)}, {wanted_by(2)}),
                              lock_of("b", {held_by(2)}, {wanted_by(1)}),
                              lock_of("c", {held_by(3)}, {wanted_by(4)}),
                              lock_of("d", {held_by(4)}, {wanted_by(3), wanted_by(1)})},
                             noon),
              SizeIs(2));
}

TEST(Deadlock, ten_thousand_waiters_at_one_lock_take_no_time) {
  for (const auto kind : {Kind::mutex, Kind::read_write, Kind::semaphore}) {
    auto crowd = lock_of("a", {held_by(1, kind == Kind::semaphore ? 5 : all_permits)}, {}, kind, 5);
    for (std::uint64_t i = 2; i < 10'002; ++i) {
      crowd.waiters.push_back(wanted_by(i, kind == Kind::mutex || i % 3 == 0 ? all_permits : 1));
      if (kind == Kind::semaphore) crowd.waiters.back().permits = 1 + i % 5;
    }
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(find_deadlocks({crowd, lock_of("b", {held_by(2)}, {wanted_by(1)})}, noon),
                SizeIs(1));
    // Optimised it takes a tenth of this; a square of arrows would take a hundred times as long.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, test::at_most(1s));
  }
}

TEST(DeadlockDetector, believes_what_it_sees_twice_and_tells_when_it_is_gone) {
  const auto ring = [](Micros waiting_for) {
    return std::vector{lock_of("a", {held_by(1)}, {wanted_by(2, all_permits, waiting_for)}),
                       lock_of("b", {held_by(2)}, {wanted_by(1, all_permits, waiting_for + 1s)})};
  };
  DeadlockDetector detector;
  EXPECT_THAT(detector.look(ring(1s), noon).appeared, IsEmpty());
  EXPECT_THAT(detector.current(), IsEmpty());
  EXPECT_THAT(detector.look(ring(2s), noon + 1500ms).appeared, SizeIs(1));
  EXPECT_THAT(detector.look(ring(3s), noon + 2s).appeared, IsEmpty());
  ASSERT_THAT(detector.current(), SizeIs(1));
  EXPECT_EQ(detector.current()[0].since, noon - 1s);
  EXPECT_THAT(detector.look({}, noon + 3s).gone, SizeIs(1));
  EXPECT_THAT(detector.current(), IsEmpty());
  EXPECT_THAT(detector.look({}, noon + 4s).gone, IsEmpty());
}

TEST(DeadlockDetector, a_wait_that_began_anew_is_another_one) {
  const auto ring = [](Micros waiting_for) {
    return std::vector{lock_of("a", {held_by(1)}, {wanted_by(2, all_permits, waiting_for)}),
                       lock_of("b", {held_by(2)}, {wanted_by(1, all_permits, 9s)})};
  };
  DeadlockDetector detector;
  detector.look(ring(2s), noon);
  EXPECT_THAT(detector.look(ring(100ms), noon + 1s).appeared, IsEmpty());
  EXPECT_THAT(detector.look(ring(1100ms), noon + 2s).appeared, SizeIs(1));
}

}  // namespace
}  // namespace holdfast::server
