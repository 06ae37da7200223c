// SPDX-License-Identifier: Apache-2.0
#include "server/events/observer.hpp"

#include "runtime/log.hpp"
#include "some_views.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

Snapshot one(std::vector<HolderView> holders, std::vector<WaiterView> waiters = {}) {
  Snapshot snapshot;
  snapshot.locks.push_back(
      {.name = "a", .holders = std::move(holders), .waiters = std::move(waiters)});
  return snapshot;
}

class ObserverTest : public testing::Test {
 protected:
  void look(Snapshot snapshot) {
    now_ += 1s;
    observer_.look(std::move(snapshot), now_, WallTime{});
  }

  void publish(EventType type, std::optional<Fence> fence, std::uint64_t party = 0) {
    observer_.publish({.type = type, .name = "a", .fence = fence, .party = party}, now_);
  }

  // What was told since the last call: "observed released a 5".
  std::vector<std::string> told() {
    std::vector<std::string> told;
    for (const auto& each : ear_.take(1'000)) {
      const auto& event = each->event();
      const auto* source = event.source == EventSource::server ? "server" : "observed";
      told.push_back(fmt::format("{} {}{}", source, text::to_word(event.type),
                                 event.fence ? fmt::format(" {}", *event.fence) : ""));
    }
    return told;
  }

  LocalTime now_{100s};
  EventHub hub_{100, 1};
  Observer observer_{hub_};
  EventHub::Subscription ear_ = hub_.subscribe({}, std::nullopt);
};

TEST_F(ObserverTest, a_waiter_that_was_served_and_gone_between_two_looks_has_not_left) {
  look(one({holding(5)}, {queued(7), queued(8)}));
  told();
  publish(EventType::released, 5);
  publish(EventType::acquired, 6, 7);
  publish(EventType::released, 6);
  told();
  look(one({}, {}));
  EXPECT_THAT(told(), ElementsAre("observed left")) << "of 8, which nobody served";
}

TEST_F(ObserverTest, the_first_look_tells_nothing_and_the_next_ones_what_changed) {
  look(one({holding(5)}));
  EXPECT_THAT(told(), IsEmpty());
  look(one({holding(6)}, {queued(1)}));
  EXPECT_THAT(told(), ElementsAre("observed released 5", "observed acquired 6", "observed queued"));
}

TEST_F(ObserverTest, looks_once_in_an_interval_and_only_while_somebody_listens) {
  EXPECT_TRUE(observer_.due(now_));
  look({});
  EXPECT_FALSE(observer_.due(now_ + 999ms));
  EXPECT_TRUE(observer_.due(now_ + 1s));
  ear_.end();
  EXPECT_FALSE(observer_.due(now_ + 1h));
  EXPECT_TRUE(observer_.due(now_ + 1h, true));
}

TEST_F(ObserverTest, an_acquire_through_this_server_is_told_once) {
  look({});
  publish(EventType::acquired, 5);
  look(one({holding(5)}));
  EXPECT_THAT(told(), ElementsAre("server acquired 5"));
  publish(EventType::released, 5);
  look({});
  EXPECT_THAT(told(), ElementsAre("server released 5"));
}

TEST_F(ObserverTest, what_was_seen_before_the_server_told_it_is_told_once) {
  look({});
  look(one({holding(5)}, {queued(7)}));
  publish(EventType::acquired, 5);
  publish(EventType::queued, std::nullopt, 7);
  EXPECT_THAT(told(), ElementsAre("observed acquired 5", "observed queued"));
}

TEST_F(ObserverTest, a_forced_release_ends_every_older_lease_and_is_told_once) {
  look(one({holding(5), holding(6), holding(9)}));
  publish(EventType::forced, 7);
  look({});
  EXPECT_THAT(told(), ElementsAre("server forced 7", "observed released 9"));
}

TEST_F(ObserverTest, a_forced_release_is_told_although_its_trace_was_seen) {
  look(one({holding(5)}));
  look({});
  publish(EventType::forced, 5);
  EXPECT_THAT(told(), ElementsAre("observed released 5", "server forced 5"));
}

TEST_F(ObserverTest, one_queued_here_answers_for_one_wait) {
  look(one({holding(5)}));
  publish(EventType::queued, std::nullopt, 1);
  look(one({holding(5)}, {queued(1), queued(1), queued(2)}));
  EXPECT_EQ(told().size(), 3U + 1U);  // the renewal of 5, which stays at 30 seconds
}

TEST_F(ObserverTest, every_renewal_through_this_server_is_told) {
  look(one({holding(5)}));
  publish(EventType::renewed, 5);
  look(one({holding(5)}));
  publish(EventType::renewed, 5);
  look(one({holding(5)}));
  EXPECT_THAT(told(), ElementsAre("server renewed 5", "server renewed 5"));
}

TEST_F(ObserverTest, looks_too_far_apart_are_not_compared) {
  look(one({holding(5)}));
  now_ += 1h;
  look(one({holding(6)}));
  EXPECT_THAT(told(), IsEmpty());
  look({});
  EXPECT_THAT(told(), ElementsAre("observed released 6"));
}

TEST_F(ObserverTest, nothing_is_told_of_what_was_forgotten) {
  look(one({holding(5)}));
  observer_.forget();
  look({});
  EXPECT_THAT(told(), IsEmpty());
  look(one({holding(6)}));
  EXPECT_THAT(told(), ElementsAre("observed acquired 6"));
}

TEST_F(ObserverTest, counts_for_gauges) {
  auto snapshot = one({holding(5), holding(6)}, {queued(1)});
  snapshot.locks.push_back({.name = "b", .holders = {}, .waiters = {queued(2)}});
  snapshot.complete = false;
  look(snapshot);
  EXPECT_EQ(observer_.observed().held, 1U);
  EXPECT_EQ(observer_.observed().holders, 2U);
  EXPECT_EQ(observer_.observed().waiters, 2U);
  EXPECT_FALSE(observer_.observed().complete);
}

TEST_F(ObserverTest, warns_once_that_there_are_more_locks_than_it_looks_at) {
  static int warnings = 0;
  warnings = 0;
  runtime::send_warnings_to([](std::string_view) { ++warnings; });
  auto part = one({holding(5)});
  part.complete = false;
  look(part);
  look(part);
  runtime::send_warnings_to(nullptr);
  EXPECT_EQ(warnings, 1);
}

TEST_F(ObserverTest, threads_publish_while_it_looks) {
  ear_.end();
  std::vector<std::jthread> threads;
  for (Fence t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (Fence i = 0; i < 500; ++i) {
        observer_.publish({.type = EventType::acquired, .name = "a", .fence = t * 1000 + i},
                          LocalTime{100s});
      }
    });
  }
  for (Fence i = 0; i < 100; ++i) observer_.look(one({holding(9'000 + i)}), LocalTime{100s}, {});
  threads.clear();
  EXPECT_EQ(hub_.last_id(), 4U * 500U + 2U * 99U);
}

TEST(Told, forgets_after_its_time_and_when_it_is_full) {
  const auto acquired = [](Fence fence) {
    return Event{.type = EventType::acquired, .name = "a", .fence = fence};
  };
  const LocalTime now{};
  Told told(5s, 2);
  told.remember(acquired(1), now);
  EXPECT_TRUE(told.take(acquired(1), now + 4s));
  EXPECT_FALSE(told.take(acquired(1), now + 5s));
  for (Fence fence = 2; fence <= 4; ++fence) told.remember(acquired(fence), now + 6s);
  EXPECT_EQ(told.size(), 2U);
  EXPECT_FALSE(told.take(acquired(2), now + 6s));
  EXPECT_TRUE(told.take(acquired(4), now + 6s));
}

TEST(Told, a_wait_told_later_outlives_one_told_before) {
  const Event queued{.type = EventType::queued, .name = "a", .party = 1};
  const LocalTime now{};
  Told told(5s);
  told.remember(queued, now);
  EXPECT_TRUE(told.take(queued, now));
  EXPECT_FALSE(told.take(queued, now));
  told.remember(queued, now + 4s);
  EXPECT_TRUE(told.take(queued, now + 6s));
}

}  // namespace
}  // namespace holdfast::server
