// SPDX-License-Identifier: Apache-2.0
#include "client_contract.hpp"
#include "in_threads.hpp"

#include <atomic>
#include <random>

namespace holdfast::test {

TEST_P(ClientContract, no_increment_is_lost_by_those_who_wait) {
  constexpr int rounds = 60;
  long counter = 0;
  Fence last = 0;
  in_threads([&](int) {
    auto own = open_again();
    auto lock = own.mutex("counter");
    for (int round = 0; round < rounds; ++round) {
      auto lease = lock.acquire({.ttl = 60s, .wait = 60s});
      ASSERT_TRUE(is_ok(lease));
      ++counter;
      EXPECT_GT(lease->fence(), last);
      last = lease->fence();
      EXPECT_EQ(lease->release(), Released::released);
    }
  });
  EXPECT_EQ(counter, threads * rounds);
  EXPECT_TRUE(client.list()->locks.empty());
}

TEST_P(ClientContract, no_increment_is_lost_while_others_give_up_and_cancel) {
  std::atomic<long> acquired = 0;
  long counter = 0;
  in_threads([&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    for (int round = 0; round < 40; ++round) {
      std::stop_source stop;
      const auto patience = std::chrono::microseconds(random() % 4000 + 1);
      std::optional<std::jthread> canceller;
      if (round % 2 == 0) {
        canceller.emplace([&stop, patience] {
          let_pass(patience);
          stop.request_stop();
        });
      }
      auto lease = client.mutex("counter").acquire(
          {.ttl = 5s, .wait = canceller ? Duration(60s) : patience}, stop.get_token());
      if (!lease) continue;
      ++counter;
      ++acquired;
      let_pass(std::chrono::microseconds(random() % 500));
      EXPECT_TRUE(lease->valid());
      EXPECT_EQ(lease->release(), Released::released);
    }
  });
  EXPECT_EQ(counter, acquired);
  EXPECT_TRUE(eventually([this] { return client.list()->locks.empty(); }));
}

TEST_P(ClientContract, renewals_of_many_leases_go_on_while_threads_acquire_and_release) {
  std::vector<Lease> held;
  for (int i = 0; i < 50; ++i) {
    auto lease =
        ok(client.mutex("held/" + std::to_string(i)).acquire({.ttl = 60s, .renew_every = 100ms}));
    held.push_back(std::move(*lease));
  }
  const auto ended = [&](const Lease& lease) { return now() + lease.remaining(); };
  std::vector<std::chrono::steady_clock::time_point> ends;
  for (const auto& lease : held) ends.push_back(ended(lease));
  std::atomic<bool> is_over = false;
  std::jthread renewed([&] {
    for (std::size_t i = 0; i < held.size(); ++i) {
      EXPECT_TRUE(eventually([&] { return ended(held[i]) > ends[i] + 300ms; })) << i;
    }
    is_over = true;
  });
  in_threads([&](int thread) {
    auto lock = client.mutex("busy/" + std::to_string(thread));
    while (!is_over) {
      auto lease = lock.acquire({.ttl = 60s});
      ASSERT_TRUE(is_ok(lease));
      let_pass(1ms);
      EXPECT_EQ(lease->release(), Released::released);
    }
  });
  for (const auto& lease : held) EXPECT_TRUE(lease.valid()) << lease.name().str();
}

}  // namespace holdfast::test
