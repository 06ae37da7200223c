// SPDX-License-Identifier: Apache-2.0
#include "runtime/event.hpp"

#include "runtime/spawn.hpp"
#include "support/hand_runtime.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using test::HandRuntime;

Task<bool> wait_once(std::shared_ptr<Event> event, LocalTime deadline) {
  co_return co_await event->wait_until(deadline);
}

Task<int> count_notifications(std::shared_ptr<Event> event, LocalTime deadline) {
  int count = 0;
  while (co_await event->wait_until(deadline)) ++count;
  co_return count;
}

class EventTest : public testing::Test {
 public:
  void start(LocalTime deadline) {
    spawn(wait_once(event, deadline), [this](bool&& notified) { result = notified; });
  }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::shared_ptr<Event> event = std::make_shared<Event>(runtime);
  std::optional<bool> result;
};

TEST_F(EventTest, resumes_the_waiter_inside_notify) {
  start(LocalTime::max());
  EXPECT_FALSE(result);
  event->notify();
  EXPECT_EQ(result, true);
}

TEST_F(EventTest, keeps_a_notification_that_comes_before_the_wait) {
  event->notify();
  start(LocalTime::max());
  EXPECT_EQ(result, true);
}

TEST_F(EventTest, two_notifications_before_the_wait_are_one) {
  event->notify();
  event->notify();
  start(LocalTime::max());
  result.reset();
  start(runtime->now() + 1s);
  EXPECT_FALSE(result);
  runtime->advance(1s);
  EXPECT_EQ(result, false);
}

TEST_F(EventTest, ends_at_the_deadline_and_not_before) {
  start(runtime->now() + 1s);
  runtime->advance(1s - 1ns);
  EXPECT_FALSE(result);
  runtime->advance(1ns);
  EXPECT_EQ(result, false);
}

TEST_F(EventTest, a_deadline_in_the_past_ends_with_the_next_turn) {
  start(runtime->now() - 1s);
  EXPECT_FALSE(result);
  runtime->advance(0s);
  EXPECT_EQ(result, false);
}

TEST_F(EventTest, leaves_no_timer_behind) {
  start(runtime->now() + 1s);
  EXPECT_EQ(runtime->timers(), 1U);
  event->notify();
  EXPECT_EQ(runtime->timers(), 0U);
}

TEST_F(EventTest, the_timer_of_an_earlier_wait_does_not_end_a_later_one) {
  std::optional<int> count;
  spawn(count_notifications(event, runtime->now() + 1s), [&](int&& counted) { count = counted; });
  event->notify();
  event->notify();
  event->notify();
  EXPECT_FALSE(count);
  runtime->advance(1s);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(runtime->timers(), 0U);
}

TEST_F(EventTest, that_is_destroyed_takes_its_timer_along) {
  {
    // The waiter owns the event here, and both are dropped together.
    auto task = wait_once(std::exchange(event, nullptr), runtime->now() + 1s);
    task.await_suspend(std::noop_coroutine()).resume();
    EXPECT_EQ(runtime->timers(), 1U);
  }
  EXPECT_EQ(runtime->timers(), 0U);
  runtime->advance(2s);
}

TEST(EventOnThreads, no_notification_is_lost_and_none_is_counted_twice) {
  const auto runtime = shared_runtime();
  for (int i = 0; i < 500; ++i) {
    const auto event = std::make_shared<Event>(runtime);
    std::atomic<int> results{0};
    spawn(wait_once(event, runtime->now() + std::chrono::microseconds(i)),
          [&](bool&&) { ++results; });
    std::jthread one([&] { event->notify(); });
    std::jthread two([&] { event->notify(); });
    while (results == 0) std::this_thread::yield();
    one.join();
    two.join();
    EXPECT_EQ(results, 1);
  }
}

}  // namespace
}  // namespace holdfast::runtime
