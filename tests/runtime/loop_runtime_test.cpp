// SPDX-License-Identifier: Apache-2.0
#include "runtime/loop_runtime.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <random>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

// Waits until everything posted before has run.
void settle(Runtime& runtime) {
  std::promise<void> reached;
  runtime.post([&] { reached.set_value(); });
  reached.get_future().get();
}

TEST(LoopRuntime, runs_posted_jobs_in_order_on_its_own_thread) {
  LoopRuntime runtime;
  EXPECT_FALSE(runtime.on_own_thread());
  std::vector<int> order;
  std::atomic<bool> elsewhere{false};
  for (int i = 0; i < 1000; ++i) {
    runtime.post([&, i] {
      order.push_back(i);
      if (!runtime.on_own_thread()) elsewhere = true;
    });
  }
  settle(runtime);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 1000U);
  EXPECT_FALSE(elsewhere);
}

TEST(LoopRuntime, on_own_thread_is_about_this_very_runtime) {
  LoopRuntime one;
  LoopRuntime two;
  std::promise<bool> answer;
  one.post([&] { answer.set_value(two.on_own_thread()); });
  EXPECT_FALSE(answer.get_future().get());
}

TEST(LoopRuntime, whose_last_user_is_a_job_of_its_own_ends_and_can_be_waited_for) {
  for (int i = 0; i < 100; ++i) {
    auto runtime = LoopRuntime::make();
    LoopRuntime& loop = *runtime;
    loop.post([last = std::move(runtime)]() mutable { last.reset(); });
    EXPECT_TRUE(wait_for_end_of_runtimes(60s));
  }
}

TEST(LoopRuntime, that_is_in_use_is_not_waited_for_longer_than_allowed) {
  auto runtime = LoopRuntime::make();
  EXPECT_FALSE(wait_for_end_of_runtimes(1ms));
  runtime.reset();
  EXPECT_TRUE(wait_for_end_of_runtimes(60s));
}

TEST(LoopRuntime, runs_timers_in_order_and_never_early) {
  LoopRuntime runtime;
  std::vector<int> order;
  std::atomic<bool> early{false};
  std::promise<void> last;
  const auto schedule = [&](int i, LocalTime when) {
    runtime.schedule(when, [&, i, when] {
      order.push_back(i);
      if (runtime.now() < when) early = true;
      if (i == 4) last.set_value();
    });
  };
  // On its own thread, so that none of them runs before all are there.
  runtime.post([&] {
    const auto start = runtime.now();
    for (const int i : {3, 1, 4, 0, 2}) schedule(i, start + std::chrono::milliseconds(10 * i));
  });
  last.get_future().get();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
  EXPECT_FALSE(early);
}

TEST(LoopRuntime, a_time_in_the_past_is_due_at_once) {
  LoopRuntime runtime;
  for (const auto when : {runtime.now() - 1h, LocalTime{}, LocalTime{} - 1h}) {
    std::promise<void> ran;
    runtime.schedule(when, [&] { ran.set_value(); });
    EXPECT_EQ(ran.get_future().wait_for(60s), std::future_status::ready);
  }
}

TEST(LoopRuntime, a_cancelled_timer_does_not_run) {
  LoopRuntime runtime;
  std::atomic<bool> ran{false};
  std::promise<void> later;
  // On its own thread, where no timer comes between.
  runtime.post([&] {
    const auto timer = runtime.schedule(runtime.now() + 5ms, [&] { ran = true; });
    EXPECT_TRUE(runtime.cancel(timer));
    EXPECT_FALSE(runtime.cancel(timer));
    EXPECT_FALSE(runtime.cancel(TimerId::none));
    runtime.schedule(runtime.now() + 10ms, [&] { later.set_value(); });
  });
  later.get_future().get();
  EXPECT_FALSE(ran);
}

TEST(LoopRuntime, a_timer_may_set_and_cancel_timers) {
  LoopRuntime runtime;
  std::promise<int> chain;
  std::atomic<bool> ran{false};
  const auto victim = runtime.schedule(runtime.now() + 1h, [&] { ran = true; });
  runtime.schedule(runtime.now() + 5ms, [&] {
    EXPECT_TRUE(runtime.cancel(victim));
    runtime.schedule(runtime.now() + 5ms,
                     [&] { runtime.schedule(runtime.now(), [&] { chain.set_value(3); }); });
  });
  EXPECT_EQ(chain.get_future().get(), 3);
  EXPECT_FALSE(ran);
}

TEST(LoopRuntime, an_earlier_timer_set_later_is_not_kept_waiting) {
  LoopRuntime runtime;
  const auto far = runtime.schedule(runtime.now() + 1h, [] {});
  std::promise<void> near;
  runtime.schedule(runtime.now() + 5ms, [&] { near.set_value(); });
  EXPECT_EQ(near.get_future().wait_for(60s), std::future_status::ready);
  EXPECT_TRUE(runtime.cancel(far));
}

TEST(LoopRuntime, timers_from_many_threads_run_once_or_are_cancelled) {
  constexpr int threads = 6;
  constexpr int rounds = 400;
  LoopRuntime runtime;
  std::atomic<int> ran{0};
  std::atomic<int> cancelled{0};
  {
    std::vector<std::jthread> crowd;
    crowd.reserve(threads);
    for (int i = 0; i < threads; ++i) {
      crowd.emplace_back([&, i] {
        std::mt19937_64 dice(static_cast<std::uint64_t>(i));
        for (int round = 0; round < rounds; ++round) {
          const auto when = runtime.now() + std::chrono::microseconds(dice() % 2000);
          const auto timer = runtime.schedule(when, [&] { ++ran; });
          if (dice() % 2 == 0 && runtime.cancel(timer)) ++cancelled;
        }
      });
    }
  }
  std::promise<void> last;
  runtime.schedule(runtime.now() + 10ms, [&] { last.set_value(); });
  last.get_future().get();
  EXPECT_EQ(ran + cancelled, threads * rounds);
}

TEST(LoopRuntime, drops_what_is_left_at_its_end) {
  const auto witness = std::make_shared<int>(1);
  {
    LoopRuntime runtime;
    runtime.schedule(runtime.now() + 1h, [witness] {});
  }
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(SharedRuntime, is_one_for_all_its_users_and_ends_with_the_last) {
  auto one = shared_runtime();
  const std::weak_ptr<Runtime> watch = one;
  EXPECT_EQ(shared_runtime(), one);
  one.reset();
  EXPECT_TRUE(watch.expired());
  EXPECT_NE(shared_runtime(), nullptr);
}

}  // namespace
}  // namespace holdfast::runtime
