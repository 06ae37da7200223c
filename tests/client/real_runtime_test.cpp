// SPDX-License-Identifier: Apache-2.0
#include "client/real_client.hpp"

#include <atomic>
#include <future>

namespace holdfast::test {
namespace {

TEST(RealRuntime, a_waiter_is_woken_by_the_release_of_another_thread) {
  const auto client = real_client();
  auto lease = value_of(client.mutex("orders").acquire());
  auto waiter = std::async(std::launch::async, [&] {
    return value_of(client.mutex("orders").acquire({.wait = 60s})).fence();
  });
  ASSERT_TRUE(eventually([&] { return value_of(client.inspect("orders")).waiters.size() == 1; }));
  value_of(lease.release());
  EXPECT_GT(waiter.get(), lease.fence());
  EXPECT_TRUE(value_of(client.list()).locks.empty());
}

TEST(RealRuntime, a_lease_is_renewed_and_its_loss_is_told) {
  const auto client = real_client();
  auto lease = value_of(client.mutex("orders").acquire({.ttl = 60s, .renew_every = 50ms}));
  EXPECT_TRUE(gets_renewed(lease, 3));
  std::promise<Errc> heard;
  lease.on_lost([&](const Error& error) { heard.set_value(error.code); });
  value_of(client.force_release("orders", "a test"));
  EXPECT_EQ(heard.get_future().get(), Errc::lost);
  EXPECT_TRUE(lease.lost().stop_requested());
}

TEST(RealRuntime, a_store_opened_with_more_drift_is_believed_in_for_less) {
  const auto client = value_of(open("memory:drift?drift=0.5"));
  const auto lease = value_of(client.mutex("orders").acquire({.ttl = 60s}));
  EXPECT_LT(lease.remaining(), 30s);
  EXPECT_GT(lease.remaining(), 10s);
  EXPECT_EQ(value_of(client.inspect("orders")).holders.size(), 1U);
}

TEST(RealRuntime, a_wait_ends_by_time_and_by_stop_token) {
  const auto client = real_client();
  const auto lease = value_of(client.mutex("orders").acquire());
  EXPECT_EQ(error_of(client.mutex("orders").acquire({.wait = 30ms})), Errc::timed_out);
  EXPECT_EQ(error_of(client.mutex("orders").acquire({.wait = 120ms, .retry = true})),
            Errc::timed_out);
  std::stop_source stop;
  auto waiter = std::async(std::launch::async, [&] {
    return error_of(client.mutex("orders").acquire({.wait = 60s}, stop.get_token()));
  });
  ASSERT_TRUE(eventually([&] { return value_of(client.inspect("orders")).waiters.size() == 1; }));
  stop.request_stop();
  EXPECT_EQ(waiter.get(), Errc::cancelled);
  EXPECT_EQ(value_of(client.inspect("orders")).waiters.size(), 0U);
}

TEST(RealRuntime, an_awaiting_coroutine_resumes_on_the_runtimes_own_thread_after_a_wait) {
  const auto runtime = runtime::shared_runtime();
  const auto client = real_client();
  auto lock = client.mutex("orders");
  auto lease = value_of(lock.acquire());
  std::promise<bool> on_own_thread;
  runtime::spawn(lock.async_acquire({.wait = 10s}), [&](Result<Lease>&& won) {
    EXPECT_TRUE(won.has_value());
    on_own_thread.set_value(runtime->on_own_thread());
  });
  ASSERT_TRUE(eventually([&] { return value_of(client.inspect("orders")).waiters.size() == 1; }));
  value_of(lease.release());
  EXPECT_TRUE(on_own_thread.get_future().get());
}

TEST(RealRuntime, a_blocking_call_on_its_own_thread_is_refused_instead_of_waiting_for_itself) {
  const auto runtime = runtime::shared_runtime();
  const auto client = real_client();
  auto lease = value_of(client.mutex("held").acquire());
  std::promise<std::vector<Errc>> told;
  runtime->post([&] {
    told.set_value({error_of(client.mutex("orders").acquire({.wait = 1s})),
                    error_of(lease.extend(10s)), error_of(lease.release()),
                    error_of(client.inspect("held")), error_of(client.list())});
  });
  EXPECT_EQ(told.get_future().get(), std::vector(5, Errc::unsupported));
  EXPECT_TRUE(lease.valid()) << "a refused release ends nothing";
  EXPECT_EQ(value_of(lease.release()), Released::released);
}

TEST(RealRuntime, the_last_user_may_go_on_its_own_thread) {
  std::promise<void> gone;
  {
    auto runtime = runtime::shared_runtime();
    auto client = std::make_shared<Client>(real_client());
    auto lease = std::make_shared<Lease>(value_of(client->mutex("orders").acquire()));
    auto* const poster = runtime.get();
    poster->post([runtime = std::move(runtime), client = std::move(client),
                  lease = std::move(lease), &gone]() mutable {
      lease.reset();
      client.reset();
      runtime.reset();
      gone.set_value();
    });
  }
  gone.get_future().get();
  EXPECT_TRUE(real_client().mutex("orders").try_acquire().has_value());
}

TEST(RealRuntime, acquire_all_waits_for_all_of_them_together) {
  const auto client = real_client();
  const std::vector<std::string_view> names{"a", "b"};
  const auto held = value_of(client.mutex("b").acquire());
  EXPECT_EQ(error_of(client.acquire_all(names, {.wait = 50ms})), Errc::timed_out);
  EXPECT_EQ(value_of(client.list()).locks.size(), 1U);
}

// Without renewal the first lease may end while the second is waited for.
TEST(RealRuntime, acquire_all_never_hands_out_a_lease_that_ended_while_it_waited) {
  const auto client = real_client();
  const std::vector<std::string_view> names{"a", "b"};
  auto held = std::make_optional(value_of(client.mutex("b").acquire()));
  std::jthread letting_go([&] {
    EXPECT_TRUE(eventually([&] {
      return value_of(client.inspect("b")).waiters.size() == 1 &&
             value_of(client.inspect("a")).holders.empty();
    }));
    held.reset();
  });
  const auto leases = client.acquire_all(names, {.ttl = 50ms, .wait = 60s, .renew = false});
  EXPECT_EQ(error_of(leases), Errc::lost);
  letting_go.join();
  EXPECT_TRUE(eventually([&] { return value_of(client.list()).locks.empty(); }));
}

}  // namespace
}  // namespace holdfast::test
