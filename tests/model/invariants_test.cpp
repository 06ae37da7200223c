// SPDX-License-Identifier: Apache-2.0
#include "model/invariants.hpp"

#include <holdfast/options.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>

namespace holdfast::model {
namespace {

using namespace std::chrono_literals;

constexpr StoreTime now{1h};

OwnerId owner(std::uint64_t number) { return OwnerId::from_random(0, number); }

Hold hold(std::uint64_t number, std::uint32_t permits) {
  return Hold{.owner = owner(number),
              .request = RequestId{number},
              .permits = permits,
              .fence = 100 + number,
              .expires = now + 30s,
              .since = now - 1s,
              .ttl = 30s,
              .metadata = {}};
}

Waiter waiter(std::uint64_t number, std::uint32_t permits) {
  return Waiter{.owner = owner(number),
                .request = RequestId{number},
                .permits = permits,
                .since = now - 1s,
                .ttl = 30s,
                .claim = 500ms,
                .metadata = {}};
}

LockState with(const LockSpec& spec, std::initializer_list<Hold> holds) {
  LockState state;
  state.spec = spec;
  for (const auto& each : holds) state.holds.push_back(each);
  return state;
}

void enqueue(LockState& state, std::uint64_t place, const Waiter& who) {
  state.queue.emplace(place, who);
  state.queue_expires = now + limits::queue_ttl;
}

testing::AssertionResult sound(const LockState& state) {
  const auto violation = violated_invariant(state, now);
  if (!violation) return testing::AssertionSuccess();
  return testing::AssertionFailure() << *violation;
}

testing::AssertionResult broken(const LockState& state, std::string_view sentence) {
  const auto violation = violated_invariant(state, now);
  if (!violation) return testing::AssertionFailure() << "nothing was found";
  if (violation->find(sentence) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << *violation;
}

// A reader that waits to write, beside another reader.
LockState upgrading() {
  auto state = with(LockSpec::read_write(Order::fifo), {hold(1, 1), hold(2, 1)});
  auto upgrader = waiter(1, all_permits);
  upgrader.request = RequestId{11};
  upgrader.converts = RequestId{1};
  enqueue(state, upgrader_place, upgrader);
  return state;
}

TEST(Invariants, sound_states_pass) {
  EXPECT_TRUE(sound(LockState{}));
  EXPECT_TRUE(sound(with(LockSpec::mutex(), {hold(1, all_permits)})));
  EXPECT_TRUE(sound(with(LockSpec::read_write(), {hold(1, 1), hold(2, 1)})));
  EXPECT_TRUE(sound(with(LockSpec::semaphore(5), {hold(1, 2), hold(2, 3)})));
  EXPECT_TRUE(sound(with(LockSpec::election(), {hold(1, 1)})));
  EXPECT_TRUE(sound(upgrading()));
  auto queued = with(LockSpec::mutex(Order::fifo), {hold(1, all_permits)});
  enqueue(queued, 7, waiter(2, all_permits));
  EXPECT_TRUE(sound(queued));
}

TEST(Invariants, a_lease_is_bounded) {
  auto state = with(LockSpec::mutex(), {hold(1, all_permits)});
  auto& lease = state.holds.front();
  lease.expires = now;
  EXPECT_TRUE(broken(state, "has expired"));
  lease.expires = now + max_ttl + 1us;
  EXPECT_TRUE(broken(state, "outlasts the longest ttl"));
  lease.expires = now + 31s;
  EXPECT_TRUE(sound(state)) << "a renewal with a shorter ttl never shortens a lease";
  lease.claimed = true;
  EXPECT_TRUE(broken(state, "a claim outlasts"));
  lease.ttl = 0s;
  EXPECT_TRUE(broken(state, "ttl is out of range"));
}

TEST(Invariants, a_hold_has_a_request_permits_and_a_fence) {
  auto state = with(LockSpec::semaphore(3), {hold(1, 1)});
  state.holds.front().request = RequestId::any;
  EXPECT_TRUE(broken(state, "no request"));
  state = with(LockSpec::semaphore(3), {hold(1, 0)});
  EXPECT_TRUE(broken(state, "no permits"));
  state = with(LockSpec::semaphore(3), {hold(1, 1)});
  state.holds.front().fence = 0;
  EXPECT_TRUE(broken(state, "no fence"));
}

TEST(Invariants, no_more_is_held_than_there_is) {
  EXPECT_TRUE(broken(with(LockSpec::mutex(), {hold(1, all_permits), hold(2, all_permits)}),
                     "permits are held of"));
  EXPECT_TRUE(broken(with(LockSpec::read_write(), {hold(1, all_permits), hold(2, 1)}),
                     "permits are held of"));
  EXPECT_TRUE(
      broken(with(LockSpec::semaphore(5), {hold(1, 3), hold(2, 3)}), "6 permits are held of 5"));
  EXPECT_TRUE(
      broken(with(LockSpec::election(), {hold(1, 1), hold(2, 1)}), "2 permits are held of 1"));
}

TEST(Invariants, a_reentrant_mutex_has_one_owner_and_one_fence) {
  auto again = hold(1, 1);
  again.request = RequestId{2};
  EXPECT_TRUE(sound(with(LockSpec::reentrant(), {hold(1, 1), again})));
  again.fence += 1;
  EXPECT_TRUE(
      broken(with(LockSpec::reentrant(), {hold(1, 1), again}), "re-entry changed the fence"));
  EXPECT_TRUE(broken(with(LockSpec::reentrant(), {hold(1, 1), hold(2, 1)}), "two owners"));
}

// A store mints each fence once, which the random walk checks. But stores that agree on a fence
// count each for itself, so that two readers may be told the same.
TEST(Invariants, holds_beside_each_other_may_have_been_told_the_same_fence) {
  auto twin = hold(2, 1);
  twin.fence = hold(1, 1).fence;
  EXPECT_TRUE(sound(with(LockSpec::read_write(), {hold(1, 1), twin})));
}

TEST(Invariants, a_request_holds_or_waits_once) {
  auto twin = hold(1, 1);
  twin.fence += 1;
  EXPECT_TRUE(broken(with(LockSpec::semaphore(5), {hold(1, 1), twin}), "holds or waits twice"));

  auto held_and_waiting = with(LockSpec::mutex(Order::fifo), {hold(1, all_permits)});
  enqueue(held_and_waiting, 7, waiter(1, all_permits));
  EXPECT_TRUE(broken(held_and_waiting, "holds or waits twice"));

  auto waiting_twice = with(LockSpec::mutex(Order::fifo), {hold(1, all_permits)});
  enqueue(waiting_twice, 7, waiter(2, all_permits));
  enqueue(waiting_twice, 8, waiter(2, all_permits));
  EXPECT_TRUE(broken(waiting_twice, "holds or waits twice"));

  auto nameless = with(LockSpec::mutex(Order::fifo), {hold(1, all_permits)});
  enqueue(nameless, 7, waiter(0, all_permits));
  EXPECT_TRUE(broken(nameless, "a waiter has no request"));
}

TEST(Invariants, the_upgrader_waits_first_and_keeps_its_shared_hold) {
  auto elsewhere = upgrading();
  auto entry = elsewhere.queue.extract(upgrader_place);
  entry.key() = 5;
  elsewhere.queue.insert(std::move(entry));
  EXPECT_TRUE(broken(elsewhere, "does not wait in the first place"));

  auto baseless = upgrading();
  baseless.holds.erase(baseless.holds.begin());
  EXPECT_TRUE(broken(baseless, "lost its shared hold"));

  auto usurped = with(LockSpec::mutex(Order::fifo), {hold(1, all_permits)});
  enqueue(usurped, upgrader_place, waiter(2, all_permits));
  EXPECT_TRUE(broken(usurped, "the upgrader's place"));

  auto same_request = upgrading();
  same_request.queue.begin()->second.request = RequestId{1};
  EXPECT_TRUE(sound(same_request));
}

TEST(Invariants, a_free_lock_does_not_keep_its_queue_waiting) {
  constexpr std::string_view sentence = "free for the head of the queue";
  auto free = with(LockSpec::mutex(Order::fifo), {});
  enqueue(free, 7, waiter(2, all_permits));
  EXPECT_TRUE(broken(free, sentence));
  free.spec.order = Order::barging;
  EXPECT_TRUE(sound(free));

  auto reader = with(LockSpec::read_write(Order::fifo), {hold(1, 1)});
  enqueue(reader, 7, waiter(2, 1));
  EXPECT_TRUE(broken(reader, sentence));

  auto permits = with(LockSpec::semaphore(5, Order::fifo), {hold(1, 3)});
  enqueue(permits, 7, waiter(2, 3));
  enqueue(permits, 8, waiter(3, 1));
  EXPECT_TRUE(sound(permits)) << "the second would fit, but nobody overtakes the first";
  permits.queue.begin()->second.permits = 2;
  EXPECT_TRUE(broken(permits, sentence));

  auto reentry = with(LockSpec::reentrant(Order::fifo), {hold(1, 1)});
  auto again = waiter(1, 1);
  again.request = RequestId{9};
  enqueue(reentry, 7, again);
  EXPECT_TRUE(broken(reentry, sentence));

  auto alone = upgrading();
  alone.holds.erase(alone.holds.begin() + 1);
  EXPECT_TRUE(broken(alone, sentence));
}

TEST(Invariants, a_queue_nobody_asks_about_is_gone) {
  auto state = with(LockSpec::mutex(Order::fifo), {hold(1, all_permits)});
  enqueue(state, 7, waiter(2, all_permits));
  state.queue_expires = now;
  EXPECT_TRUE(broken(state, "the queue has expired"));
  state.queue.clear();
  EXPECT_TRUE(sound(state));
}

TEST(Invariants, limits_hold) {
  auto holders = with(LockSpec::read_write(Order::fifo), {});
  for (std::uint64_t number = 1; number <= limits::max_holders; ++number) {
    holders.holds.push_back(hold(number, 1));
  }
  auto waiters = holders;
  enqueue(waiters, 7, waiter(99999, 1));
  EXPECT_TRUE(sound(waiters)) << "a full lock is not free for anybody";
  holders.holds.push_back(hold(limits::max_holders + 1, 1));
  EXPECT_TRUE(broken(holders, "max_holders"));
  for (std::uint64_t place = 1; place <= limits::max_waiters + 1; ++place) {
    enqueue(waiters, place, waiter(100000 + place, 1));
  }
  EXPECT_TRUE(broken(waiters, "max_waiters"));
}

}  // namespace
}  // namespace holdfast::model
