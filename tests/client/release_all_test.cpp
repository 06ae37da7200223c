// SPDX-License-Identifier: Apache-2.0
#include "client/release_all.hpp"

#include "client/hand_client.hpp"
#include "client/real_client.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

class ReleaseAllTest : public ClientTest {};

TEST_F(ReleaseAllTest, gives_back_everything_that_the_client_and_its_copies_hold) {
  const auto one = mine.take("one");
  const auto two = mine.take("two");
  const Client copy = mine.api;
  const auto three = value_of(copy.read_write("three").acquire_shared());
  const auto others = other.take("other");
  const auto done = value_of(mine.api.release_all());
  EXPECT_EQ(done.released, 3U);
  EXPECT_EQ(done.failed, 0U);
  EXPECT_TRUE(is_free("one"));
  EXPECT_TRUE(is_free("two"));
  EXPECT_TRUE(is_free("three"));
  EXPECT_EQ(holders("other"), 1U);
  EXPECT_FALSE(one.valid());
}

TEST_F(ReleaseAllTest, of_nothing_does_nothing) {
  const auto done = value_of(mine.api.release_all());
  EXPECT_EQ(done.released + done.failed, 0U);
}

TEST_F(ReleaseAllTest, tells_the_holder_before_anybody_else_has_the_lock) {
  auto lease = mine.take("orders");
  std::vector<std::string> told;
  const std::stop_callback on_lost(lease.lost(), [&] {
    EXPECT_EQ(holders("orders"), 1U);
    told.emplace_back("signal");
  });
  lease.on_lost([&](const Error& error) { told.push_back(error.message); });
  value_of(mine.api.release_all());
  runtime->run();
  EXPECT_EQ(told, (std::vector<std::string>{"signal", "'orders' was given back by release_all"}));
  EXPECT_EQ(error_of(lease.extend(10s)), Errc::lost);
  EXPECT_EQ(error_of(lease.release()), Errc::not_held);
  EXPECT_EQ(mine.core->lost.load(), 0U) << "nothing went wrong";
}

TEST_F(ReleaseAllTest, leaves_out_what_is_released_lost_or_detached_already) {
  auto released = mine.take("released");
  value_of(released.release());
  mine.take("detached", {.ttl = 20s}).detach();
  const auto lost = mine.take("lost", {.ttl = 1s, .renew = false});
  advance(2s);
  const auto done = value_of(mine.api.release_all());
  EXPECT_EQ(done.released + done.failed, 0U);
  EXPECT_EQ(holders("detached"), 1U);
  advance(20s);
}

TEST_F(ReleaseAllTest, goes_on_past_one_that_fails_and_asks_for_all_at_once) {
  const auto one = mine.take("one");
  const auto two = mine.take("two");
  const auto three = mine.take("three");
  // The first one asked is refused until it gives up.
  mine.line->script(Verb::release, Fault::refuse());
  mine.line->script(Verb::release, Fault::refuse(), 100, 2);
  Running<ReleasedAll> releasing(client::release_all(mine.core));
  EXPECT_FALSE(releasing.done());
  EXPECT_EQ(holders("one") + holders("two") + holders("three"), 1U) << "the others did not wait";
  advance(client::release_timeout);
  EXPECT_EQ(releasing.result().released, 2U);
  EXPECT_EQ(releasing.result().failed, 1U);
  EXPECT_EQ(mine.core->unreleased.load(), 1U);
  EXPECT_EQ(mine.api.metrics().held, 0U);
  advance(30s);  // it ends with its ttl
}

TEST_F(ReleaseAllTest, leaves_waiters_and_later_acquires_alone) {
  auto holder = other.take("orders");
  auto waiting = mine.acquire("orders", {.wait = 10s});
  value_of(mine.api.release_all());
  EXPECT_FALSE(waiting.done());
  value_of(holder.release());
  runtime->run();
  EXPECT_TRUE(waiting.result()->valid());
  EXPECT_EQ(value_of(mine.api.release_all()).released, 1U);
  EXPECT_TRUE(mine.take("orders").valid());
}

TEST(ReleaseAllThreads, while_others_lock_and_unlock_leaves_nothing_behind) {
  const auto client = real_client();
  std::atomic<bool> stop = false;
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const auto name = "orders:" + std::to_string(thread);
      while (!stop) {
        // Taken away or not, a lease of a free lock is had again.
        auto lease = client.mutex(name).acquire({.wait = 10s});
        ASSERT_TRUE(lease.has_value()) << lease.error().message;
      }
    });
  }
  for (int round = 0; round < 200; ++round) {
    const auto done = value_of(client.release_all());
    EXPECT_EQ(done.failed, 0U);
  }
  stop = true;
  threads.clear();
  EXPECT_EQ(client.metrics().held, 0U);
  EXPECT_EQ(value_of(client.list()).locks.size(), 0U);
}

}  // namespace
}  // namespace holdfast::test
