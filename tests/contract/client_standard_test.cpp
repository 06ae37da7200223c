// SPDX-License-Identifier: Apache-2.0
//
// The locks as the standard library sees them.
#include "client_contract.hpp"

#include <mutex>
#include <shared_mutex>
#include <system_error>

namespace holdfast::test {

TEST_P(ClientContract, unique_lock_works_with_all_its_ways_to_lock) {
  auto orders = client.mutex("orders:42");
  auto others = client.mutex("orders:42");
  {
    const std::unique_lock guard(orders);
    EXPECT_TRUE(guard.owns_lock());
    EXPECT_FALSE(std::unique_lock(others, std::try_to_lock).owns_lock());
    EXPECT_FALSE(std::unique_lock(others, 30ms).owns_lock());
    EXPECT_FALSE(std::unique_lock(others, std::chrono::system_clock::now() + 30ms).owns_lock());
  }
  EXPECT_TRUE(std::unique_lock(others, std::try_to_lock).owns_lock());
  EXPECT_TRUE(std::unique_lock(others, 60s).owns_lock());
}

TEST_P(ClientContract, the_lease_behind_a_guard_has_a_fence) {
  auto orders = client.mutex("orders:42");
  EXPECT_EQ(orders.held(), nullptr);
  {
    const std::lock_guard guard(orders);
    ASSERT_NE(orders.held(), nullptr);
    EXPECT_GT(orders.held()->fence(), 0U);
    std::jthread([&orders] { EXPECT_EQ(orders.held(), nullptr); }).join();
  }
  EXPECT_EQ(orders.held(), nullptr);
}

TEST_P(ClientContract, unlocking_what_this_thread_did_not_lock_throws) {
  auto orders = client.mutex("orders:42");
  EXPECT_THROW(orders.unlock(), std::system_error);
}

TEST_P(ClientContract, locking_a_bad_name_throws) {
  auto nameless = client.mutex("");
  EXPECT_THROW(nameless.lock(), std::system_error);
  EXPECT_THROW((void)nameless.try_lock(), std::system_error);
}

TEST_P(ClientContract, scoped_lock_takes_two_locks_in_any_order_without_a_deadlock) {
  auto a = client.mutex("a");
  auto b = client.mutex("b");
  long counter = 0;
  const auto work = [&counter](Mutex& first, Mutex& second) {
    for (int round = 0; round < 15; ++round) {
      const std::scoped_lock both(first, second);
      ++counter;
    }
  };
  {
    std::jthread one([&] { work(a, b); });
    std::jthread two([&] { work(b, a); });
  }
  EXPECT_EQ(counter, 30);
}

TEST_P(ClientContract, shared_lock_takes_the_read_side) {
  auto catalogue = client.read_write("catalogue");
  auto others = client.read_write("catalogue");
  {
    const std::shared_lock reading(catalogue);
    EXPECT_TRUE(std::shared_lock(others, std::try_to_lock).owns_lock());
    EXPECT_TRUE(std::shared_lock(others, 60s).owns_lock());
    EXPECT_FALSE(std::unique_lock(others, std::try_to_lock).owns_lock());
  }
  const std::unique_lock writing(catalogue, 60s);
  EXPECT_TRUE(writing.owns_lock());
  EXPECT_FALSE(std::shared_lock(others, 20ms).owns_lock());
}

TEST_P(ClientContract, one_handle_serves_many_threads) {
  auto orders = client.mutex("orders:42");
  long counter = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 25; ++round) {
          const std::lock_guard guard(orders);
          ++counter;
        }
      });
    }
  }
  EXPECT_EQ(counter, 100);
}

TEST_P(ClientContract, a_thread_locks_a_reentrant_mutex_again_and_unlocks_as_often) {
  auto lock = client.reentrant("nested");
  lock.lock();
  ASSERT_TRUE(lock.try_lock());
  lock.unlock();
  std::thread([&] { EXPECT_FALSE(lock.try_lock()); }).join();
  lock.unlock();
  std::thread([&] {
    ASSERT_TRUE(lock.try_lock());
    lock.unlock();
  }).join();
}

}  // namespace holdfast::test
