// SPDX-License-Identifier: Apache-2.0
#include "runtime/spawn.hpp"

#include "runtime/event.hpp"
#include "support/hand_runtime.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

Task<int> sum(Task<int> a, Task<int> b) {
  const int first = co_await std::move(a);
  const int second = co_await std::move(b);
  co_return first + second;
}

Task<int> answer_when(std::shared_ptr<Event> event) {
  co_await event->wait_until(LocalTime::max());
  co_return 42;
}

Task<int> thrower() {
  throw std::runtime_error("no paper");
  co_return 1;
}

Task<bool> catches(Task<int> task) {
  try {
    co_await std::move(task);
  } catch (const std::runtime_error&) {
    co_return true;
  }
  co_return false;
}

TEST(Task, a_value_that_is_there_needs_no_coroutine) {
  Task<int> task(7);
  EXPECT_TRUE(task.is_ready());
  EXPECT_EQ(run_blocking(std::move(task)), 7);
}

TEST(Task, starts_only_when_awaited) {
  bool started = false;
  const auto make = [](bool* flag) -> Task<int> {
    *flag = true;
    co_return 1;
  };
  {
    auto task = make(&started);
    EXPECT_FALSE(started);
  }
  EXPECT_FALSE(started);
  EXPECT_EQ(run_blocking(make(&started)), 1);
  EXPECT_TRUE(started);
}

TEST(Task, tasks_await_tasks) {
  EXPECT_EQ(run_blocking(sum(Task<int>(1), sum(Task<int>(2), Task<int>(3)))), 6);
}

TEST(Task, an_exception_travels_to_who_awaits) { EXPECT_TRUE(run_blocking(catches(thrower()))); }

TEST(Spawn, calls_back_where_the_task_ends) {
  const auto runtime = std::make_shared<test::HandRuntime>();
  const auto event = std::make_shared<Event>(runtime);
  int result = 0;
  spawn(answer_when(event), [&](int&& value) { result = value; });
  EXPECT_EQ(result, 0);
  event->notify();
  EXPECT_EQ(result, 42);
}

TEST(RunBlocking, waits_for_another_thread) {
  const auto runtime = std::make_shared<test::HandRuntime>();
  for (int i = 0; i < 200; ++i) {
    const auto event = std::make_shared<Event>(runtime);
    std::jthread other([&] { event->notify(); });
    EXPECT_EQ(run_blocking(answer_when(event)), 42);
  }
}

}  // namespace
}  // namespace holdfast::runtime
