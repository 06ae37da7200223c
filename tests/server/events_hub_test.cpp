// SPDX-License-Identifier: Apache-2.0
#include "server/events/hub.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

Event event(std::string name, EventType type = EventType::acquired) {
  return {.type = type, .name = std::move(name)};
}

class Ear {
 public:
  EventHub::Callback callback() {
    return [this](const SharedEvent& event) {
      ids.push_back(event->id());
      names.push_back(event->event().name);
    };
  }
  std::vector<std::uint64_t> ids;
  std::vector<std::string> names;
};

TEST(EventHub, hands_an_event_to_everybody_whose_filter_fits) {
  EventHub hub(10, 100);
  Ear all;
  Ear orders;
  Ear allowed;
  const auto a = hub.subscribe({}, std::nullopt, all.callback());
  const auto b = hub.subscribe({.prefix = "orders:"}, std::nullopt, orders.callback());
  const auto c = hub.subscribe({.allowed = [](std::string_view name) { return name == "x"; }},
                               std::nullopt, allowed.callback());
  EXPECT_EQ(hub.publish(event("orders:1")), 100U);
  EXPECT_EQ(hub.publish(event("x")), 101U);
  EXPECT_THAT(all.ids, ElementsAre(100, 101));
  EXPECT_THAT(orders.names, ElementsAre("orders:1"));
  EXPECT_THAT(allowed.names, ElementsAre("x"));
}

TEST(EventHub, an_event_without_a_name_concerns_everybody) {
  EventHub hub(10, 1);
  Ear ear;
  const auto subscription =
      hub.subscribe({.prefix = "orders:", .allowed = [](std::string_view) { return false; }},
                    std::nullopt, ear.callback());
  hub.publish(event("", EventType::store_changed));
  EXPECT_EQ(ear.ids.size(), 1U);
}

TEST(EventHub, says_nothing_to_those_who_went) {
  EventHub hub(10, 1);
  Ear ear;
  {
    auto first = hub.subscribe({}, std::nullopt, ear.callback());
    const auto moved = std::move(first);
    EXPECT_TRUE(hub.has_subscribers());
    hub.publish(event("a"));
  }
  EXPECT_FALSE(hub.has_subscribers());
  hub.publish(event("b"));
  EXPECT_THAT(ear.names, ElementsAre("a"));
}

TEST(EventHub, replays_what_came_after_the_last_one_heard) {
  EventHub hub(10, 1);
  for (const auto* name : {"a", "b", "c"}) hub.publish(event(name));
  Ear ear;
  const auto subscription = hub.subscribe({}, 1, ear.callback());
  hub.publish(event("d"));
  EXPECT_FALSE(subscription.missed());
  EXPECT_THAT(ear.names, ElementsAre("b", "c", "d"));
}

TEST(EventHub, replays_only_what_fits) {
  EventHub hub(10, 1);
  for (const auto* name : {"a:1", "b:1", "a:2"}) hub.publish(event(name));
  Ear ear;
  const auto subscription = hub.subscribe({.prefix = "a:"}, 0, ear.callback());
  EXPECT_THAT(ear.names, ElementsAre("a:1", "a:2"));
}

TEST(EventHub, tells_who_comes_back_too_late) {
  EventHub hub(2, 1);
  for (const auto* name : {"a", "b", "c", "d"}) hub.publish(event(name));
  Ear late;
  Ear just;
  EXPECT_TRUE(hub.subscribe({}, 1, late.callback()).missed());
  EXPECT_THAT(late.names, ElementsAre("c", "d"));
  EXPECT_FALSE(hub.subscribe({}, 2, just.callback()).missed());
  EXPECT_THAT(just.names, ElementsAre("c", "d"));
}

TEST(EventHub, keeps_nothing_where_nothing_shall_be_kept) {
  EventHub hub(0, 1);
  hub.publish(event("a"));
  Ear ear;
  EXPECT_TRUE(hub.subscribe({}, 0, ear.callback()).missed());
  EXPECT_FALSE(hub.subscribe({}, 1, ear.callback()).missed());
  EXPECT_THAT(ear.names, IsEmpty());
}

TEST(EventHub, ids_keep_growing_over_a_restart_and_who_was_away_is_told) {
  const WallTime monday{1'794'778'200s};
  EventHub before(10, first_event_id(monday));
  std::uint64_t last = 0;
  for (int i = 0; i < 1000; ++i) last = before.publish(event("a"));
  EventHub after(10, first_event_id(monday + 2ms));
  EXPECT_EQ(after.last_id() + 1, first_event_id(monday + 2ms));
  Ear ear;
  EXPECT_TRUE(after.subscribe({}, last, ear.callback()).missed());
  EXPECT_GT(after.publish(event("a")), last);
  EXPECT_GT(first_event_id(WallTime(-5s)), 0U);
}

TEST(EventHub, an_id_that_was_never_given_counts_as_missed) {
  EventHub hub(10, 1);
  hub.publish(event("a"));
  Ear ear;
  EXPECT_TRUE(hub.subscribe({}, 77, ear.callback()).missed());
  EXPECT_THAT(ear.names, IsEmpty());
}

TEST(EventHub, a_callback_may_end_its_own_subscription) {
  EventHub hub(10, 1);
  int heard = 0;
  Ear other;
  EventHub::Subscription subscription;
  subscription = hub.subscribe({}, std::nullopt, [&](const SharedEvent&) {
    ++heard;
    subscription.end();
  });
  const auto stays = hub.subscribe({}, std::nullopt, other.callback());
  hub.publish(event("a"));
  hub.publish(event("b"));
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(hub.subscribers(), 1U);
  EXPECT_THAT(other.names, ElementsAre("a", "b"));
}

TEST(EventHub, the_text_is_made_once_and_shared) {
  EventHub hub(10, 7);
  std::vector<const std::string*> texts;
  const auto note = [&](const SharedEvent& event) { texts.push_back(&event->json()); };
  const auto a = hub.subscribe({}, std::nullopt, note);
  const auto b = hub.subscribe({}, std::nullopt, note);
  hub.publish({.type = EventType::released, .name = "a", .fence = 3, .principal = "ops"});
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(*texts[0],
            R"({"id":7,"type":"released","name":"a","at":"1970-01-01T00:00:00.000Z","fence":3,)"
            R"("source":"server","principal":"ops"})");
}

TEST(EventHub, an_observed_event_names_no_principal) {
  const PublishedEvent seen(1, {.source = EventSource::observed, .principal = "nobody"});
  EXPECT_EQ(seen.json().find("nobody"), std::string::npos);
}

constexpr int publishers = 8;
constexpr int events_each = 2'000;

// Publishes from all threads at once while `meanwhile` runs.
template <typename F>
void publish_from_everywhere(EventHub& hub, F meanwhile) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < publishers; ++t) {
    threads.emplace_back([&hub, t] {
      for (int i = 0; i < events_each; ++i) hub.publish(event(std::to_string(t)));
    });
  }
  meanwhile();
}

TEST(EventHub, subscribers_come_and_go_while_eight_threads_publish) {
  EventHub hub(1'000, 1);
  Ear steady;
  const auto stays = hub.subscribe({}, std::nullopt, steady.callback());
  publish_from_everywhere(hub, [&] {
    std::vector<std::jthread> visitors;
    for (int v = 0; v < 4; ++v) {
      visitors.emplace_back([&hub] {
        for (int i = 0; i < 200; ++i) {
          std::size_t bytes = 0;
          const auto visit = hub.subscribe({.prefix = "3"}, std::nullopt, [&](const auto& event) {
            bytes += event->json().size();
          });
          std::this_thread::yield();
        }
      });
    }
  });
  EXPECT_EQ(steady.ids.size(), std::size_t{publishers} * events_each);
  EXPECT_TRUE(std::ranges::is_sorted(steady.ids, std::less_equal<>()));
  EXPECT_EQ(hub.subscribers(), 1U);
}

TEST(EventHub, whoever_comes_back_misses_nothing_and_hears_nothing_twice) {
  constexpr std::uint64_t all = std::uint64_t{publishers} * events_each;
  EventHub hub(all, 1);
  std::vector<std::uint64_t> heard;
  publish_from_everywhere(hub, [&] {
    std::uint64_t last = 0;
    while (last < all) {
      auto visit =
          hub.subscribe({}, last, [&](const auto& event) { heard.push_back(event->id()); });
      EXPECT_FALSE(visit.missed());
      std::this_thread::yield();
      visit.end();
      if (!heard.empty()) last = heard.back();
    }
  });
  ASSERT_EQ(heard.size(), all);
  for (std::uint64_t i = 0; i < all; ++i) ASSERT_EQ(heard[i], i + 1);
}

}  // namespace
}  // namespace holdfast::server
