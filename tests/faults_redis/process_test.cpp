// SPDX-License-Identifier: Apache-2.0
//
// A client's process is stopped for longer than its lease or its claim, or killed.
#include "faults_redis/faults_fixture.hpp"
#include "faults_redis/puppet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace holdfast::faults {

namespace {

constexpr Micros ttl = 500ms;
constexpr Micros claim = 500ms;
// A claim that lapsed is noticed when the next waiter asks, which each does about once a second.
constexpr Micros next_question = 1200ms;
constexpr Micros long_ttl = 30s;
constexpr Micros slack = 250ms;

class Process : public FaultsTest {
 protected:
  Process() : FaultsTest({"door"}) {
    for (ProcessId i = 0; i < 4; ++i) puppets.push_back(std::make_unique<Puppet>(log, i + 2));
  }
  void open_puppets(std::size_t many) const {
    for (std::size_t i = 0; i < many; ++i) puppets[i]->open(server.url());
    for (std::size_t i = 0; i < many; ++i) ASSERT_TRUE(puppets[i]->hears_good());
  }
  // In the queue behind everybody who is there already, while somebody holds the lock for long.
  void queue(Puppet& puppet, Micros own_ttl = long_ttl) {
    const auto before = waiters();
    puppet.acquire(1, own_ttl, 60s);
    ASSERT_TRUE(eventually([&] { return waiters() == before + 1; }));
  }
  std::size_t waiters() {
    if (!looker) looker.emplace(must_open());
    const auto view = looker->inspect("door");
    return view ? view->waiters.size() : 0;
  }
  Caller::Hold must_hold(Caller& caller) {
    auto hold = caller.acquire({.lock = {.name = 1}, .ttl = long_ttl, .wait = 60s});
    if (!hold) throw std::runtime_error(hold.error().error.message);
    return std::move(*hold);
  }
  std::size_t subscribers() const {
    const auto all = test::RawRedis(server).text({"CLIENT", "LIST", "TYPE", "pubsub"});
    return static_cast<std::size_t>(std::ranges::count(all, '\n'));
  }
  static void release(const Puppet& puppet) {
    puppet.tell({.verb = Puppet::Verb::release});
    EXPECT_TRUE(puppet.hears_good());
  }

 public:
  std::vector<std::unique_ptr<Puppet>> puppets;
  std::optional<Client> looker;
};

TEST_F(Process, stopped_while_it_holds_loses_the_lock_after_its_ttl_and_knows_it_when_it_wakes_up) {
  open_puppets(1);
  Puppet& holder = *puppets[0];
  holder.acquire(1, ttl, 10s);
  ASSERT_TRUE(holder.hears_good());
  Caller caller(must_open(), log, 1);
  holder.stop();
  const auto begin = stopwatch();
  auto hold = must_hold(caller);
  EXPECT_LT(begin.time(), at_most(ttl + slack));
  // This is in its ears before it wakes up.
  holder.tell({.verb = Puppet::Verb::is_valid});
  holder.cont();
  const auto answer = holder.hear();
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->good);
  holder.tell({.verb = Puppet::Verb::release});
  EXPECT_FALSE(holder.hears_good());
  EXPECT_TRUE(caller.look(hold));
  EXPECT_EQ(caller.release(hold), Released::released);
}

TEST_F(Process, stopped_for_a_moment_keeps_its_lease) {
  constexpr Micros longer_ttl = 6s;
  open_puppets(1);
  Puppet& holder = *puppets[0];
  holder.acquire(1, longer_ttl, 10s);
  ASSERT_TRUE(holder.hears_good());
  const auto left = [&] { return looker->inspect("door")->holders.at(0).remaining; };
  ASSERT_EQ(waiters(), 0U);
  holder.stop();
  // It should have been renewed long ago.
  EXPECT_TRUE(eventually([&] { return left() < longer_ttl * 6 / 10; }));
  holder.cont();
  EXPECT_TRUE(eventually([&] { return left() > longer_ttl * 7 / 10; }));
  holder.tell({.verb = Puppet::Verb::is_valid});
  EXPECT_TRUE(holder.hears_good());
  release(holder);
}

TEST_F(Process, stopped_at_the_head_of_the_queue_costs_the_others_a_claim) {
  open_puppets(4);
  Caller caller(must_open(), log, 1);
  auto hold = must_hold(caller);
  for (const auto& puppet : puppets) queue(*puppet);
  puppets[0]->stop();
  puppets[1]->stop();
  const auto begin = stopwatch();
  EXPECT_TRUE(caller.release(hold));
  ASSERT_TRUE(puppets[2]->hears_good());
  EXPECT_LT(begin.time(), at_most(next_question + claim + slack));
  release(*puppets[2]);
  ASSERT_TRUE(puppets[3]->hears_good(slack));
  release(*puppets[3]);
  // Those who were passed over wake up, find that they are not holding, and are served.
  for (const auto index : {0, 1}) {
    puppets[index]->cont();
    ASSERT_TRUE(puppets[index]->hears_good());
    puppets[index]->tell({.verb = Puppet::Verb::is_valid});
    EXPECT_TRUE(puppets[index]->hears_good());
    release(*puppets[index]);
  }
}

// It stood far back when it last asked; being the first of its client, it asks every second all
// the same.
TEST_F(Process, stopped_in_front_of_one_that_queued_far_behind_costs_it_a_claim) {
  constexpr unsigned quick = 40;
  open_puppets(1);
  Caller caller(must_open(), log, 1);
  auto hold = must_hold(caller);
  const auto wait_in_line = [&] {
    const auto before = waiters();
    std::jthread thread([&] {
      auto mine = must_hold(caller);
      EXPECT_TRUE(caller.release(mine));
    });
    EXPECT_TRUE(eventually([&] { return waiters() == before + 1; }));
    return thread;
  };
  std::vector<std::jthread> line;
  line.reserve(quick + 1);
  for (unsigned i = 0; i < quick; ++i) line.push_back(wait_in_line());
  queue(*puppets[0]);
  line.push_back(wait_in_line());
  puppets[0]->stop();
  const auto begin = stopwatch();
  EXPECT_TRUE(caller.release(hold));
  line.clear();
  fmt::print("served after {} ms\n", begin.time() / 1ms);
  EXPECT_LT(begin.time(), at_most(next_question + slack));
  puppets[0]->cont();
  ASSERT_TRUE(puppets[0]->hears_good());
  release(*puppets[0]);
}

TEST_F(Process, killed_in_the_queue_is_passed_over_at_once) {
  open_puppets(4);
  Caller caller(must_open(), log, 1);
  auto hold = must_hold(caller);
  for (const auto& puppet : puppets) queue(*puppet);
  const auto before = subscribers();
  puppets[0]->kill();
  puppets[2]->kill();
  ASSERT_TRUE(eventually([&] { return subscribers() == before - 2; }));
  const auto first = stopwatch();
  EXPECT_TRUE(caller.release(hold));
  ASSERT_TRUE(puppets[1]->hears_good());
  EXPECT_LT(first.time(), at_most(150ms));
  const auto second = stopwatch();
  release(*puppets[1]);
  ASSERT_TRUE(puppets[3]->hears_good());
  EXPECT_LT(second.time(), at_most(150ms));
  release(*puppets[3]);
}

// A monitoring tool that listens to every channel hears what is meant for processes that are gone.
TEST_F(Process, killed_in_the_queue_is_passed_over_at_once_beside_a_listener_to_every_channel) {
  open_puppets(4);
  test::RawRedis tool(server);
  ASSERT_EQ(tool.call({"PSUBSCRIBE", "*"})->elements, 3U);
  Caller caller(must_open(), log, 1);
  auto hold = must_hold(caller);
  for (const auto& puppet : puppets) queue(*puppet);
  const auto before = subscribers();
  for (const std::size_t dead : {0, 1, 2}) puppets[dead]->kill();
  ASSERT_TRUE(eventually([&] { return subscribers() == before - 3; }));
  // The release itself passes them over: nobody has to wait for the end of a claim.
  EXPECT_TRUE(caller.release(hold));
  EXPECT_EQ(waiters(), 0U);
  ASSERT_TRUE(puppets[3]->hears_good());
  release(*puppets[3]);
}

TEST_F(Process, killed_right_after_it_was_handed_the_lock_costs_a_claim) {
  open_puppets(2);
  Caller caller(must_open(), log, 1);
  auto hold = must_hold(caller);
  queue(*puppets[0]);
  queue(*puppets[1]);
  // Its connection is open, so that it is handed the lock, and it never confirms that.
  puppets[0]->stop();
  const auto begin = stopwatch();
  EXPECT_TRUE(caller.release(hold));
  puppets[0]->kill();
  ASSERT_TRUE(puppets[1]->hears_good());
  EXPECT_LT(begin.time(), at_most(next_question + slack));
  release(*puppets[1]);
}

TEST_F(Process, killed_while_it_holds_keeps_the_lock_for_its_ttl_and_no_longer) {
  open_puppets(3);
  Caller caller(must_open(), log, 1);
  auto hold = must_hold(caller);
  queue(*puppets[0], ttl);
  queue(*puppets[1]);
  queue(*puppets[2]);
  EXPECT_TRUE(caller.release(hold));
  ASSERT_TRUE(puppets[0]->hears_good());
  const auto begin = stopwatch();
  puppets[0]->kill();
  ASSERT_TRUE(puppets[1]->hears_good());
  EXPECT_LT(begin.time(), at_most(ttl + slack));
  release(*puppets[1]);
  ASSERT_TRUE(puppets[2]->hears_good(slack));
  release(*puppets[2]);
}

TEST_F(Process, killed_at_any_moment_of_opening_and_asking_blocks_nobody_for_long) {
  // All of them are forked while there are no threads.
  constexpr ProcessId many = 12;
  std::vector<std::unique_ptr<Puppet>> victims;
  victims.reserve(many);
  for (ProcessId i = 0; i < many; ++i) victims.push_back(std::make_unique<Puppet>(log, i + 100));
  Caller caller(must_open(), log, 1);
  for (const auto& victim : victims) {
    victim->open(server.url());
    victim->acquire(1, ttl, 30s);
    auto hold = must_hold(caller);
    dice.rest(0us, 25ms);
    const bool while_held = dice.one_in(2);
    if (while_held) victim->kill();
    EXPECT_TRUE(caller.release(hold));
    if (!while_held) dice.rest(0us, 5ms);
    victim->kill();
    const auto begin = stopwatch();
    auto next = must_hold(caller);
    EXPECT_LT(begin.time(), at_most(std::max(ttl, claim) + slack));
    EXPECT_TRUE(caller.release(next));
  }
}

}  // namespace

}  // namespace holdfast::faults
