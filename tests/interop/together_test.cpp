// SPDX-License-Identifier: Apache-2.0
//
// Several clients of ours and several strangers on one lock.
#include "interop_fixture.hpp"

#include <atomic>
#include <mutex>

namespace holdfast::test {
namespace {

class Together : public InteropTest, public testing::WithParamInterface<Peer> {
 protected:
  Together() : InteropTest(GetParam()) {}
};

TEST_P(Together, our_clients_hand_over_in_order_and_the_key_names_each_holder) {
  auto other = open_client();
  auto lease = lock().acquire();
  ASSERT_TRUE(is_ok(lease));
  std::vector<std::future<Turn>> line;
  for (int i = 0; i < 6; ++i) line.push_back(start_waiting(i % 2 == 0 ? other : client));
  Fence last = lease->fence();
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto released = SteadyClock::now();
    ASSERT_TRUE(lease->release());
    auto [next, at] = line[i].get();
    ASSERT_TRUE(is_ok(next));
    EXPECT_LT(at - released, at_most(told_at_once));
    EXPECT_EQ(stranger.holder(), next->owner().str());
    EXPECT_FALSE(stranger.take("theirs", 60s));
    EXPECT_GT(next->fence(), last);
    EXPECT_EQ(waiters(), line.size() - 1 - i) << "one wake for each release";
    last = next->fence();
    lease = std::move(next);
  }
  ASSERT_TRUE(lease->release());
  EXPECT_EQ(keys(), std::set<std::string>{"hf:fence"});
}

TEST_P(Together, after_a_stranger_our_queue_is_served_in_order) {
  auto other = open_client();
  ASSERT_TRUE(stranger.take("theirs", 60s));
  auto first = start_waiting(other);
  auto second = start_waiting(client);
  auto third = start_waiting(other);
  ASSERT_TRUE(stranger.release("theirs"));
  auto one = first.get();
  ASSERT_TRUE(is_ok(one.lease));
  EXPECT_TRUE(is_waiting(second));
  ASSERT_TRUE(one.lease->release());
  auto two = second.get();
  ASSERT_TRUE(is_ok(two.lease));
  EXPECT_TRUE(is_waiting(third));
  ASSERT_TRUE(two.lease->release());
  EXPECT_TRUE(is_ok(third.get().lease));
}

// Everybody adds to a number that only the lock protects.
TEST_P(Together, ours_and_theirs_never_hold_it_at_once) {
  constexpr int of_each = 25;
  constexpr int turns_of_ours = 40;
  constexpr int turns_of_theirs = 20;
  const std::vector<Client> clients{client, open_client(), open_client()};
  std::atomic<int> inside = 0;
  std::atomic<int> collisions = 0;
  std::atomic<int> failures = 0;
  int unprotected = 0;
  // n8n's primitives delete each other's texts if several of them come and go at once.
  std::mutex of_n8n;
  const auto visit = [&] {
    if (inside.fetch_add(1) != 0) ++collisions;
    const int seen = unprotected;
    std::this_thread::yield();
    unprotected = seen + 1;
    inside.fetch_sub(1);
  };
  std::vector<std::jthread> crowd;
  for (int i = 0; i < of_each; ++i) {
    crowd.emplace_back([&, i] {
      auto lock = lock_of(clients[static_cast<std::size_t>(i) % clients.size()]);
      for (int turn = 0; turn < turns_of_ours; ++turn) {
        auto lease = lock.acquire({.wait = 60s});
        if (!lease) return void(++failures);
        visit();
        if (lease->release() != Released::released) ++failures;
      }
    });
    crowd.emplace_back([&, i] {
      Stranger one(peer, shared_server(), "orders");
      for (int turn = 0; turn < turns_of_theirs; ++turn) {
        const auto token = "theirs-" + std::to_string(i) + "-" + std::to_string(turn);
        const auto until = SteadyClock::now() + 60s;
        std::unique_lock alone(of_n8n, std::defer_lock);
        if (peer.name == "n8n") alone.lock();
        while (!one.take(token, 60s)) {
          if (SteadyClock::now() > until) return void(++failures);
          std::this_thread::sleep_for(std::chrono::microseconds(500 + 100 * i));
        }
        visit();
        if (!one.release(token)) ++failures;
      }
    });
  }
  crowd.clear();
  EXPECT_EQ(collisions, 0);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(unprotected, of_each * (turns_of_ours + turns_of_theirs));
  EXPECT_TRUE(eventually([&] { return keys() == std::set<std::string>{"hf:fence"}; }));
}

INSTANTIATE_TEST_SUITE_P(Peers, Together, testing::ValuesIn(some_peers()), by_peer);

}  // namespace
}  // namespace holdfast::test
