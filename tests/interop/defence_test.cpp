// SPDX-License-Identifier: Apache-2.0
//
// A lease of ours whose ttl n8n's losers change: who stands up for it, and when that ends.
#include <holdfast/n8n.hpp>

#include "interop_fixture.hpp"

#include <fmt/format.h>

namespace holdfast::test {
namespace {

class Defended : public InteropTest {
 protected:
  Defended() : InteropTest(peer_named("n8n")) {}

  static constexpr auto counter = "n8n-lock-orders";

  void lose(const std::string& key = counter, int ttl = 60) {
    raw.call({"INCR", key});
    raw.call({"EXPIRE", key, std::to_string(ttl)});
  }
  bool is_set_back() {
    return eventually([&] { return raw.integer({"TTL", counter}) > 500; });
  }
};

TEST_F(Defended, a_waiter_that_gives_up_leaves_the_holder_beside_it_defended) {
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .ttl_seconds = 600})));
  EXPECT_THAT(code_of(client.mutex("orders").acquire({.wait = 30ms})), gave_up());
  lose();
  EXPECT_TRUE(is_set_back());
}

TEST_F(Defended, a_lock_that_follows_another_at_once_is_defended) {
  for (int i = 0; i < 40; ++i) {
    const auto first = "first-" + std::to_string(i);
    const auto second = "second-" + std::to_string(i);
    ASSERT_TRUE(
        is_ok(n8n::acquire(client, {.scope = "orders", .ttl_seconds = 600, .lock_id = first})));
    ASSERT_TRUE(is_ok(n8n::release(client, "orders", first)));
    ASSERT_TRUE(
        is_ok(n8n::acquire(client, {.scope = "orders", .ttl_seconds = 600, .lock_id = second})));
    lose();
    ASSERT_TRUE(is_set_back()) << i;
    ASSERT_TRUE(is_ok(n8n::release(client, "orders", second)));
  }
}

TEST_F(Defended, a_lock_that_was_handed_over_is_defended) {
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .lock_id = "first"})));
  auto turn = std::async(std::launch::async, [&] {
    return n8n::acquire(client, {.scope = "orders", .ttl_seconds = 600, .max_wait_seconds = 30});
  });
  ASSERT_TRUE(eventually([&] { return waiters() == 1; }));
  ASSERT_TRUE(is_ok(n8n::release(client, "orders", "first")));
  ASSERT_TRUE(is_ok(turn.get()));
  lose();
  EXPECT_TRUE(is_set_back());
}

TEST_F(Defended, a_lease_ends_when_it_should_although_somebody_loses_in_its_last_moment) {
  auto lease = client.mutex("orders").acquire({.ttl = 60ms, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  const auto until = SteadyClock::now() + 60ms;
  // Only while it is there, or it would be a lock of its own.
  const std::string lose_again =
      "return redis.call('EXISTS', KEYS[1]) == 1 and redis.call('INCR', KEYS[1])";
  while (SteadyClock::now() < until) raw.call({"EVAL", lose_again, "1", counter});
  EXPECT_TRUE(eventually([&] { return client.inspect("orders")->holders.empty(); }))
      << "it is renewed for ever";
}

TEST_F(Defended, the_shortest_lease_ends_too) {
  auto lease = client.mutex("orders").acquire({.ttl = 20ms, .renew = false});
  ASSERT_TRUE(is_ok(lease));
  EXPECT_TRUE(eventually([&] { return client.inspect("orders")->holders.empty(); }));
  EXPECT_TRUE(eventually([&] { return raw.integer({"EXISTS", counter}) == 0; }));
}

TEST_F(Defended, a_lock_that_is_held_in_peace_costs_nothing) {
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .ttl_seconds = 600})));
  EXPECT_TRUE(eventually([&] { return commands_meanwhile() < 20; }));
  for (int i = 0; i < 20; ++i) lose();
  ASSERT_TRUE(is_set_back());
  EXPECT_TRUE(eventually([&] { return commands_meanwhile() < 20; }))
      << "it defends itself against itself";
}

TEST_F(Defended, a_server_that_stops_for_a_while_finds_us_standing_up_afterwards) {
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .ttl_seconds = 600})));
  raw.call({"EXPIRE", counter, "300"});
  shared_server().stop();
  EXPECT_FALSE(client.inspect("orders")) << "as long as a question waits for its answer";
  shared_server().cont();
  EXPECT_TRUE(is_set_back());
}

TEST_F(Defended, after_a_reconnect_every_lock_is_looked_after) {
  constexpr int locks = 2000;
  const auto loop =
      "for i = 1, " + std::to_string(locks) + " do local key = 'n8n-lock-many-' .. i ";
  for (int i = 1; i <= locks; ++i) {
    auto lease = client.mutex("many-" + std::to_string(i)).acquire({.ttl = 600s, .renew = false});
    ASSERT_TRUE(is_ok(lease));
    lease->detach();
  }
  raw.call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  raw.call({"EVAL", loop + "redis.call('EXPIRE', key, 300) end", "0"});
  const auto count =
      "local n = 0 " + loop + "if redis.call('TTL', key) > 500 then n = n + 1 end end return n";
  const auto all_are_set_back = [&] { return raw.integer({"EVAL", count, "0"}) == locks; };
  EXPECT_TRUE(eventually(all_are_set_back)) << raw.integer({"EVAL", count, "0"});
}

TEST_F(Defended, a_client_may_be_closed_while_it_defends) {
  for (int round = 0; round < 10; ++round) {
    auto other = std::make_unique<Client>(open_client());
    const auto scope = [&](int i) { return fmt::format("{}-{}", round, i); };
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(is_ok(n8n::acquire(*other, {.scope = scope(i), .ttl_seconds = 600})));
    }
    for (int i = 0; i < 10; ++i) lose("n8n-lock-" + scope(i));
    other.reset();
  }
  ASSERT_TRUE(is_ok(n8n::acquire(client, {.scope = "orders", .ttl_seconds = 600})));
  lose();
  EXPECT_TRUE(is_set_back());
}

}  // namespace
}  // namespace holdfast::test
