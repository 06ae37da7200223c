// SPDX-License-Identifier: Apache-2.0
#include "client_contract.hpp"
#include "runtime/spawn.hpp"

#include <random>

namespace holdfast::test {

TEST_P(ClientContract, a_wait_ends_when_the_holder_releases) {
  auto first = ok(client.mutex("orders:42").acquire());
  std::chrono::steady_clock::time_point released;
  std::jthread holder([&] {
    EXPECT_TRUE(has_waiter());
    released = now();
    (void)first->release();
  });
  auto second = ok(client.mutex("orders:42").acquire({.wait = 60s}));
  const auto granted = now();
  holder.join();
  EXPECT_GE(granted, released);
  EXPECT_LT(granted - released, at_most(1s));
  EXPECT_GT(second->fence(), first->fence());
}

TEST_P(ClientContract, a_wait_ends_when_the_holder_expires) {
  auto first = ok(client.mutex("orders:42").acquire({.ttl = 150ms, .renew = false}));
  const auto start = now();
  auto second = ok(client.mutex("orders:42").acquire({.wait = 60s}));
  EXPECT_LT(now() - start, at_most(1s));
  EXPECT_TRUE(first->lost().stop_requested()) << "lost must fire before another is granted";
}

TEST_P(ClientContract, a_handed_over_lease_lasts_beyond_its_claim) {
  auto first = ok(client.mutex("orders:42").acquire());
  std::jthread holder([&] {
    EXPECT_TRUE(has_waiter());
    (void)first->release();
  });
  auto second = ok(client.mutex("orders:42").acquire({.ttl = 60s, .wait = 60s, .renew = false}));
  EXPECT_TRUE(eventually([&] { return second->remaining() > 30s; })) << "a claim has 500 ms";
  EXPECT_TRUE(second->valid());
  EXPECT_EQ(second->release(), Released::released);
}

TEST_P(ClientContract, a_wait_that_is_too_short_times_out_and_leaves_nothing_behind) {
  auto first = ok(client.mutex("orders:42").acquire());
  const auto start = now();
  EXPECT_EQ(code_in_the_end([&] { return client.mutex("orders:42").acquire({.wait = 60ms}); }),
            "timed_out");
  EXPECT_GE(now() - start, 60ms);
  EXPECT_LT(now() - start, at_most(1s));
  EXPECT_TRUE(eventually([&] { return client.inspect("orders:42")->waiters.empty(); }));
  (void)first->release();
  EXPECT_TRUE(client.inspect("orders:42")->holders.empty());
}

TEST_P(ClientContract, a_stop_token_cancels_a_wait_promptly_and_leaves_nothing_behind) {
  auto first = ok(client.mutex("orders:42").acquire());
  std::stop_source stop;
  std::chrono::steady_clock::time_point start;
  std::jthread canceller([&] {
    EXPECT_TRUE(has_waiter());
    start = now();
    stop.request_stop();
  });
  EXPECT_EQ(code_of(client.mutex("orders:42").acquire({.wait = 60s}, stop.get_token())),
            "cancelled");
  canceller.join();
  EXPECT_LT(now() - start, at_most(1s));
  EXPECT_TRUE(eventually([&] { return client.inspect("orders:42")->waiters.empty(); }));
}

TEST_P(ClientContract, a_stop_token_that_fired_before_takes_nothing) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(code_of(client.mutex("orders:42").acquire({.wait = 60s}, stop.get_token())),
            "cancelled");
  EXPECT_TRUE(client.inspect("orders:42")->holders.empty());
}

TEST_P(ClientContract, cancelling_while_a_grant_is_on_its_way_never_leaks_the_lock) {
  std::mt19937 random(4711);
  for (int round = 0; round < 40; ++round) {
    auto first = ok(client.mutex("orders:42").acquire());
    std::stop_source stop;
    const auto lead = std::chrono::microseconds(random() % 400);
    std::jthread canceller([&] {
      let_pass(2ms);
      (void)first->release();
      let_pass(lead);
      stop.request_stop();
    });
    {
      auto second = client.mutex("orders:42").acquire({.wait = 60s}, stop.get_token());
      ASSERT_TRUE(second.has_value() || code_of(second) == "cancelled");
    }
    canceller.join();
    ASSERT_TRUE(is_ok(client.mutex("orders:42").acquire({.wait = 20s}))) << "round " << round;
  }
}

TEST_P(ClientContract, those_who_wait_are_served_in_the_order_in_which_they_came) {
  auto first = ok(client.mutex("orders:42").acquire());
  std::vector<int> order;
  std::vector<std::jthread> line;
  for (int i = 0; i < 5; ++i) {
    line.emplace_back([this, i, &order] {
      auto lease = client.mutex("orders:42").acquire({.wait = 60s});
      ASSERT_TRUE(is_ok(lease));
      order.push_back(i);
    });
    const auto expected = static_cast<std::size_t>(i) + 1;
    ASSERT_TRUE(
        eventually([&] { return client.inspect("orders:42")->waiters.size() == expected; }));
  }
  (void)first->release();
  line.clear();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_P(ClientContract, one_that_retries_gets_the_lock_without_queueing) {
  auto first = ok(client.mutex("orders:42").acquire());
  std::jthread holder([&] {
    let_pass(120ms);
    EXPECT_TRUE(eventually([&] { return client.inspect("orders:42")->waiters.empty(); }));
    (void)first->release();
  });
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire({.wait = 60s, .retry = true})));
}

TEST_P(ClientContract, one_that_retries_times_out_too) {
  auto first = ok(client.mutex("orders:42").acquire());
  const auto start = now();
  EXPECT_EQ(code_in_the_end(
                [&] { return client.mutex("orders:42").acquire({.wait = 80ms, .retry = true}); }),
            "timed_out");
  EXPECT_LT(now() - start, at_most(1s));
}

TEST_P(ClientContract, a_barging_lock_is_had_in_the_end) {
  auto first = ok(client.mutex("orders:42", Order::barging).acquire());
  std::jthread holder([&] {
    EXPECT_TRUE(has_waiter());
    (void)first->release();
  });
  EXPECT_TRUE(is_ok(client.mutex("orders:42", Order::barging).acquire({.wait = 60s})));
}

TEST_P(ClientContract, a_coroutine_acquires_at_once_or_waits) {
  auto task = client.mutex("orders:42").async_acquire({.ttl = 10s});
  auto first = runtime::run_blocking(std::move(task));
  ASSERT_TRUE(is_ok(first));
  std::jthread holder([&] {
    EXPECT_TRUE(has_waiter());
    (void)first->release();
  });
  auto waiting = client.mutex("orders:42").async_acquire({.wait = 60s});
  EXPECT_TRUE(is_ok(runtime::run_blocking(std::move(waiting))));
}

namespace {

// A coroutine whose frame belongs to whoever holds this.
struct Owned {
  struct promise_type {
    Owned get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> frame;
};

Owned wait_for_lock(Mutex mutex) {
  auto waiting = mutex.async_acquire({.wait = 60s});
  auto lease = co_await std::move(waiting);
}

}  // namespace

TEST_P(ClientContract, destroying_a_waiting_coroutine_cancels_its_wait) {
  auto first = ok(client.mutex("orders:42").acquire());
  const Owned waiting = wait_for_lock(client.mutex("orders:42"));
  ASSERT_TRUE(has_waiter());
  waiting.frame.destroy();
  EXPECT_TRUE(eventually([&] { return client.inspect("orders:42")->waiters.empty(); }));
  (void)first->release();
  EXPECT_TRUE(is_ok(client.mutex("orders:42").acquire({.wait = 20s})));
}

}  // namespace holdfast::test
