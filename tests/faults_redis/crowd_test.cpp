// SPDX-License-Identifier: Apache-2.0
//
// Two hundred waiters for one lock.
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/puppet.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

namespace holdfast::faults {

namespace {

class Crowd : public FaultsTest {
 protected:
  static constexpr unsigned size = 200;
  static constexpr unsigned clients = 4;
  Crowd() : FaultsTest({"door"}), holder(log, 8) {}

  struct Ends {
    std::atomic<unsigned> granted = 0;
    std::atomic<unsigned> cancelled = 0;
    std::atomic<unsigned> timed_out = 0;
    std::atomic<unsigned> late = 0;
    unsigned all() const { return granted + cancelled + timed_out; }
  };

  // A short wait may end before the first answer comes.
  static bool ended_with_its_wait(Errc code) {
    return code == Errc::timed_out || code == Errc::outcome_unknown;
  }

  void open_clients() {
    for (unsigned i = 0; i < clients; ++i) callers.emplace_back(must_open(), log, i + 1);
  }

  // Waits as long as it may or is cancelled, works for a moment and gives the lock back.
  void wait_once(Caller& caller, Micros wait, std::stop_token stop, Ends& ends) {
    const auto watch = stopwatch();
    auto hold = caller.acquire({.lock = {.name = 1}, .ttl = 10s, .wait = wait, .says_who = true},
                               std::move(stop));
    if (watch.time() > wait + at_most(300ms)) ++ends.late;
    if (hold) {
      ++ends.granted;
      caller.increment(*hold);
      caller.keep(*hold, 3ms);
      EXPECT_TRUE(caller.release(*hold));
    } else if (hold.error().error.code == Errc::cancelled) {
      ++ends.cancelled;
    } else if (ended_with_its_wait(hold.error().error.code)) {
      ++ends.timed_out;
    } else {
      ADD_FAILURE() << hold.error().error.message;
    }
  }

  // Writes down who stands where in the queue, as Redis has it.
  void note_places(test::RawRedis& raw) {
    const auto queue = raw.call({"ZRANGE", "hf:{door}:z", "0", "-1", "WITHSCORES"});
    for (std::size_t i = 0; i + 1 < queue->elements; i += 2) {
      const std::string member = queue->element[i]->str;
      constexpr std::size_t before_owner = 1 + 16;
      if (!member.starts_with('w') || member.find("op-", before_owner) != before_owner) continue;
      const auto op = static_cast<OpId>(std::stoul(member.substr(before_owner + 3)));
      if (!told_places.insert(op).second) continue;
      const auto place = std::strtod(queue->element[i + 1]->str, nullptr) + 9e15;
      log.add({.number = static_cast<std::int64_t>(place), .op = op, .what = What::queued});
    }
  }
  std::size_t seen_waiting(test::RawRedis& raw) {
    note_places(raw);
    return told_places.size();
  }

 public:
  Puppet holder;
  std::vector<Caller> callers;
  std::set<OpId> told_places;  // whose places are written down
};

TEST_F(Crowd, that_comes_and_goes_is_served_in_order_and_everybody_ends_in_time) {
  holder.open(server.url());
  ASSERT_TRUE(holder.hears_good());
  open_clients();
  holder.acquire(1, 30s, 10s);
  ASSERT_TRUE(holder.hears_good());
  Canceller canceller;
  test::RawRedis raw(server);
  Ends ends;
  const auto before = commands_sent(raw);
  std::vector<std::jthread> threads;
  threads.reserve(size);
  for (unsigned i = 0; i < size; ++i) {
    const Micros wait = dice.one_in(4) ? dice.time(1ms, 300ms) : dice.time(10s, 60s);
    const auto stop = dice.one_in(4) ? canceller.after(dice.time(0us, 500ms)) : std::stop_token();
    threads.emplace_back(
        [this, i, wait, stop, &ends] { wait_once(callers[i % clients], wait, stop, ends); });
  }
  EXPECT_TRUE(eventually([&] { return seen_waiting(raw) > size / 3; }));
  holder.tell({.verb = Puppet::Verb::release});
  EXPECT_TRUE(eventually([&] {
    note_places(raw);
    return ends.all() == size;
  }));
  EXPECT_TRUE(holder.hears_good());
  for (auto& thread : threads) thread.join();
  const auto sent = commands_sent(raw) - before;
  fmt::print("{} granted, {} cancelled, {} timed out; {:.2f} commands each\n", ends.granted.load(),
             ends.cancelled.load(), ends.timed_out.load(), double(sent) / size);
  EXPECT_EQ(ends.late, 0U);
  EXPECT_EQ(ends.all(), size);
  EXPECT_GT(ends.granted, size / 4);
  EXPECT_LT(sent, 6 * size);
}

TEST_F(Crowd, behind_a_holder_that_was_killed_is_quiet_and_served_when_the_lease_ends) {
  constexpr Micros ttl = 900ms;
  holder.open(server.url());
  ASSERT_TRUE(holder.hears_good());
  open_clients();
  test::RawRedis raw(server);
  // Its turn comes when the crowd is there.
  Caller first(must_open(), log, 7);
  auto hold = first.acquire({.lock = {.name = 1}, .ttl = 30s});
  ASSERT_TRUE(hold);
  holder.acquire(1, ttl, 60s);
  ASSERT_TRUE(eventually([&] { return waiting(raw, "door") == 1; }));
  Ends ends;
  std::vector<std::jthread> threads;
  threads.reserve(size);
  for (unsigned i = 0; i < size; ++i) {
    threads.emplace_back([this, i, &ends] { wait_once(callers[i % clients], 60s, {}, ends); });
  }
  EXPECT_TRUE(eventually([&] { return waiting(raw, "door") == size + 1; }));
  note_places(raw);
  EXPECT_TRUE(first.release(*hold));
  ASSERT_TRUE(holder.hears_good());
  const auto before = commands_sent(raw);
  holder.kill();
  const auto watch = stopwatch();
  EXPECT_TRUE(eventually([&] { return ends.granted > 0; }));
  EXPECT_LT(watch.time(), at_most(ttl + 150ms));
  const auto while_waiting = commands_sent(raw) - before;
  for (auto& thread : threads) thread.join();
  const auto until_all_were_served = commands_sent(raw) - before;
  fmt::print("{} commands until the first was served, {} until all were\n", while_waiting,
             until_all_were_served);
  EXPECT_EQ(ends.granted, size);
  EXPECT_LT(while_waiting, 2 * size);
  EXPECT_LT(until_all_were_served, 6 * size);
}

}  // namespace

}  // namespace holdfast::faults
