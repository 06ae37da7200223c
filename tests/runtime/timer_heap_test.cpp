// SPDX-License-Identifier: Apache-2.0
#include "runtime/timer_heap.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

constexpr LocalTime start{1h};

TEST(TimerHeap, gives_jobs_in_order_of_time_and_then_of_adding) {
  TimerHeap heap;
  std::string order;
  heap.add(start + 2s, [&] { order += "c"; });
  heap.add(start + 1s, [&] { order += "a"; });
  heap.add(start + 1s, [&] { order += "b"; });
  while (auto job = heap.pop_due(start + 10s)) (*job)();
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(heap.size(), 0U);
}

TEST(TimerHeap, gives_nothing_before_its_time) {
  TimerHeap heap;
  heap.add(start + 1s, [] {});
  EXPECT_FALSE(heap.pop_due(start + 1s - 1ns));
  EXPECT_EQ(heap.next(), start + 1s);
  EXPECT_TRUE(heap.pop_due(start + 1s));
  EXPECT_EQ(heap.next(), std::nullopt);
}

TEST(TimerHeap, a_removed_timer_is_gone_with_its_job) {
  TimerHeap heap;
  const auto witness = std::make_shared<int>(1);
  const auto timer = heap.add(start, [witness] {});
  EXPECT_EQ(witness.use_count(), 2);
  EXPECT_TRUE(heap.remove(timer));
  EXPECT_EQ(witness.use_count(), 1);
  EXPECT_FALSE(heap.remove(timer));
  EXPECT_FALSE(heap.pop_due(start + 1s));
}

TEST(TimerHeap, an_old_id_does_not_remove_a_later_timer_in_its_slot) {
  TimerHeap heap;
  const auto old = heap.add(start, [] {});
  EXPECT_TRUE(heap.pop_due(start));
  heap.add(start, [] {});
  EXPECT_FALSE(heap.remove(old));
  EXPECT_EQ(heap.size(), 1U);
}

TEST(TimerHeap, none_and_unknown_ids_remove_nothing) {
  TimerHeap heap;
  EXPECT_FALSE(heap.remove(TimerId::none));
  heap.add(start, [] {});
  EXPECT_FALSE(heap.remove(TimerId::none));
  EXPECT_FALSE(heap.remove(TimerId{12345}));
  EXPECT_EQ(heap.size(), 1U);
}

TEST(TimerHeap, behaves_like_a_sorted_list_over_a_hundred_thousand_random_calls) {
  constexpr std::uint64_t seed = 20'261'115;
  std::mt19937_64 dice(seed);
  TimerHeap heap;
  std::multimap<std::pair<LocalTime, std::uint64_t>, TimerId> reference;
  std::uint64_t added = 0;
  std::uint64_t ran = 0;
  for (int i = 0; i < 100'000; ++i) {
    const LocalTime when = start + std::chrono::milliseconds(dice() % 1000);
    const auto choice = dice() % 10;
    if (choice < 5) {
      const auto number = added++;
      reference.emplace(std::pair(when, number), heap.add(when, [&ran, number] { ran = number; }));
    } else if (choice < 8 && !reference.empty()) {
      const auto victim = std::next(
          reference.begin(),
          static_cast<std::ptrdiff_t>(dice() % std::min<std::size_t>(reference.size(), 50)));
      ASSERT_TRUE(heap.remove(victim->second)) << "seed " << seed;
      reference.erase(victim);
    } else {
      auto job = heap.pop_due(when);
      const bool is_due = !reference.empty() && reference.begin()->first.first <= when;
      ASSERT_EQ(job.has_value(), is_due) << "seed " << seed;
      if (!job) continue;
      (*job)();
      ASSERT_EQ(ran, reference.begin()->first.second) << "seed " << seed;
      reference.erase(reference.begin());
    }
    ASSERT_EQ(heap.size(), reference.size());
    const bool empty = reference.empty();
    ASSERT_EQ(heap.next(), empty ? std::nullopt : std::optional(reference.begin()->first.first));
  }
}

}  // namespace
}  // namespace holdfast::runtime
