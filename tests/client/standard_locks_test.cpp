// SPDX-License-Identifier: Apache-2.0
//
// Lockable, TimedLockable and SharedTimedLockable, as the standard's guards use them.
#include "client/real_client.hpp"

#include <barrier>
#include <mutex>
#include <shared_mutex>

namespace holdfast::test {
namespace {

TEST(StandardLocks, a_unique_lock_holds_and_lets_go) {
  const auto client = real_client();
  auto orders = client.mutex("orders");
  {
    const std::unique_lock guard{orders, 1s};
    EXPECT_TRUE(guard.owns_lock());
    EXPECT_TRUE(orders.held()->valid());
    EXPECT_FALSE(client.mutex("orders").try_lock());
  }
  EXPECT_EQ(orders.held(), nullptr);
  EXPECT_TRUE(value_of(client.list()).locks.empty());
}

TEST(StandardLocks, a_timed_try_ends_at_its_time) {
  const auto client = real_client();
  const auto lease = value_of(client.mutex("orders").acquire());
  auto orders = client.mutex("orders");
  const std::unique_lock late{orders, 20ms};
  EXPECT_FALSE(late.owns_lock());
  EXPECT_FALSE(orders.try_lock_until(std::chrono::steady_clock::now() + 10ms));
  EXPECT_FALSE(orders.try_lock_until(std::chrono::system_clock::now() - 1h));
  EXPECT_FALSE(orders.try_lock_for(-1s));
}

TEST(StandardLocks, a_scoped_lock_takes_two_kinds_without_a_deadlock) {
  const auto client = real_client();
  auto a = client.mutex("a");
  auto b = client.read_write("b");
  auto other_a = client.mutex("a");
  auto other_b = client.read_write("b");
  std::jthread rival([&] {
    for (int i = 0; i < 50; ++i) const std::scoped_lock both(other_b, other_a);
  });
  for (int i = 0; i < 50; ++i) const std::scoped_lock both(a, b);
}

TEST(StandardLocks, shared_locks_share_and_keep_writers_out) {
  const auto client = real_client();
  auto page = client.read_write("page");
  {
    const std::shared_lock one{page};
    const std::shared_lock two{page, 1s};
    EXPECT_EQ(value_of(client.inspect("page")).holders.size(), 2U);
    EXPECT_FALSE(client.mutex("page").try_lock()) << "a mutex is the write side";
    EXPECT_FALSE(page.try_lock_for(10ms));
  }
  const std::unique_lock writer{page};
  EXPECT_FALSE(page.try_lock_shared());
  EXPECT_FALSE(page.try_lock_shared_for(10ms));
}

TEST(StandardLocks, unlocking_what_this_thread_did_not_lock_is_not_permitted) {
  const auto client = real_client();
  auto orders = client.mutex("orders");
  orders.lock();
  std::jthread([&] { EXPECT_THROW(orders.unlock(), std::system_error); }).join();
  orders.unlock();
  EXPECT_THROW(orders.unlock(), std::system_error);
}

TEST(StandardLocks, lock_throws_what_the_standard_expects) {
  const auto client = real_client();
  auto bad = client.mutex("");
  EXPECT_THROW(bad.lock(), std::system_error);
  EXPECT_THROW((void)bad.try_lock(), std::system_error);
}

// A semaphore has many holders at once; what one thread was given stays where it is while others
// come and go.
TEST(StandardLocks, the_held_lease_of_a_thread_stays_in_its_place) {
  constexpr int threads = 8;
  const auto client = real_client();
  auto pool = client.semaphore("pool", threads);
  std::barrier together(threads);
  std::vector<std::jthread> crowd;
  crowd.reserve(threads);
  for (int i = 0; i < threads; ++i) {
    crowd.emplace_back([&] {
      pool.lock();
      const Lease* mine = pool.held();
      const auto fence = mine->fence();
      together.arrive_and_wait();
      EXPECT_EQ(pool.held(), mine);
      EXPECT_EQ(mine->fence(), fence);
      together.arrive_and_wait();
      pool.unlock();
    });
  }
  crowd.clear();
  EXPECT_TRUE(value_of(client.list()).locks.empty());
}

}  // namespace
}  // namespace holdfast::test
