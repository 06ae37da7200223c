// SPDX-License-Identifier: Apache-2.0
#include "server/events/hub.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
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

std::vector<std::uint64_t> ids(EventHub::Subscription& ear, std::size_t limit = 100'000) {
  std::vector<std::uint64_t> all;
  for (const auto& each : ear.take(limit)) all.push_back(each->id());
  return all;
}

std::vector<std::string> names(EventHub::Subscription& ear, std::size_t limit = 100'000) {
  std::vector<std::string> all;
  for (const auto& each : ear.take(limit)) all.push_back(each->event().name);
  return all;
}

TEST(EventHub, hands_an_event_to_everybody_whose_filter_fits) {
  EventHub hub(10, 100);
  auto all = hub.subscribe({}, std::nullopt);
  auto orders = hub.subscribe({.prefix = "orders:"}, std::nullopt);
  auto allowed =
      hub.subscribe({.allowed = [](std::string_view name) { return name == "x"; }}, std::nullopt);
  EXPECT_EQ(hub.publish(event("orders:1")), 100U);
  EXPECT_EQ(hub.publish(event("x")), 101U);
  EXPECT_THAT(ids(all), ElementsAre(100, 101));
  EXPECT_THAT(names(orders), ElementsAre("orders:1"));
  EXPECT_THAT(names(allowed), ElementsAre("x"));
  EXPECT_THAT(ids(all), IsEmpty());
}

TEST(EventHub, an_event_without_a_name_concerns_everybody) {
  EventHub hub(10, 1);
  auto ear = hub.subscribe({.prefix = "orders:", .allowed = [](std::string_view) { return false; }},
                           std::nullopt);
  hub.publish(event("", EventType::store_changed));
  EXPECT_EQ(ids(ear).size(), 1U);
}

TEST(EventHub, counts_those_who_are_there) {
  EventHub hub(10, 1);
  {
    auto first = hub.subscribe({}, std::nullopt);
    auto moved = std::move(first);
    EXPECT_EQ(hub.subscribers(), 1U);
    auto second = hub.subscribe({}, std::nullopt);
    second = std::move(moved);
    EXPECT_EQ(hub.subscribers(), 1U);
  }
  EXPECT_FALSE(hub.has_subscribers());
}

TEST(EventHub, replays_what_came_after_the_last_one_heard) {
  EventHub hub(10, 1);
  for (const auto* name : {"a", "b", "c"}) hub.publish(event(name));
  auto ear = hub.subscribe({}, 1);
  hub.publish(event("d"));
  EXPECT_FALSE(ear.missed());
  EXPECT_THAT(names(ear), ElementsAre("b", "c", "d"));
}

TEST(EventHub, replays_only_what_fits) {
  EventHub hub(10, 1);
  for (const auto* name : {"a:1", "b:1", "a:2"}) hub.publish(event(name));
  auto ear = hub.subscribe({.prefix = "a:"}, 0);
  EXPECT_THAT(names(ear), ElementsAre("a:1", "a:2"));
}

TEST(EventHub, hands_out_no_more_at_once_than_is_asked_for) {
  EventHub hub(10, 1);
  auto ear = hub.subscribe({.prefix = "a"}, std::nullopt);
  for (const auto* name : {"b", "a1", "a2", "a3"}) hub.publish(event(name));
  EXPECT_THAT(names(ear, 2), ElementsAre("a1"));
  EXPECT_TRUE(ear.has_more());
  EXPECT_THAT(names(ear, 2), ElementsAre("a2", "a3"));
  EXPECT_FALSE(ear.has_more());
}

TEST(EventHub, tells_who_comes_back_too_late) {
  EventHub hub(2, 1);
  for (const auto* name : {"a", "b", "c", "d"}) hub.publish(event(name));
  auto late = hub.subscribe({}, 1);
  EXPECT_TRUE(late.missed());
  EXPECT_FALSE(late.missed()) << "once is enough";
  EXPECT_THAT(names(late), ElementsAre("c", "d"));
  auto just = hub.subscribe({}, 2);
  EXPECT_FALSE(just.missed());
  EXPECT_THAT(names(just), ElementsAre("c", "d"));
}

TEST(EventHub, whoever_takes_too_rarely_is_told_and_goes_on_with_what_is_left) {
  EventHub hub(10, 1);
  auto ear = hub.subscribe({}, std::nullopt);
  for (std::size_t i = 0; i < EventHub::min_kept + 5; ++i) hub.publish(event("a"));
  const auto left = ids(ear);
  EXPECT_TRUE(ear.missed());
  EXPECT_EQ(left.size(), EventHub::min_kept);
  EXPECT_EQ(left.front(), 6U);
}

TEST(EventHub, keeps_nothing_for_those_who_come_back_where_nothing_shall_be_kept) {
  EventHub hub(0, 1);
  auto here = hub.subscribe({}, std::nullopt);
  hub.publish(event("a"));
  auto late = hub.subscribe({}, 0);
  EXPECT_TRUE(late.missed());
  EXPECT_THAT(names(late), IsEmpty());
  EXPECT_FALSE(hub.subscribe({}, 1).missed());
  EXPECT_THAT(names(here), ElementsAre("a"));
}

TEST(EventHub, rings_once_for_the_first_event_after_it_was_asked_to) {
  EventHub hub(10, 1);
  int rings = 0;
  hub.on_news([&] { ++rings; });
  hub.publish(event("a"));
  EXPECT_EQ(rings, 0);
  EXPECT_FALSE(hub.ring_after(0)) << "there is something already";
  EXPECT_TRUE(hub.ring_after(1));
  hub.publish(event("b"));
  hub.publish(event("c"));
  EXPECT_EQ(rings, 1);
}

TEST(EventHub, ids_keep_growing_over_a_restart_and_who_was_away_is_told) {
  const WallTime monday{1'794'778'200s};
  EventHub before(10, first_event_id(monday));
  std::uint64_t last = 0;
  for (int i = 0; i < 1000; ++i) last = before.publish(event("a"));
  EventHub after(10, first_event_id(monday + 2ms));
  EXPECT_EQ(after.last_id() + 1, first_event_id(monday + 2ms));
  EXPECT_TRUE(after.subscribe({}, last).missed());
  EXPECT_GT(after.publish(event("a")), last);
  EXPECT_GT(first_event_id(WallTime(-5s)), 0U);
}

TEST(EventHub, an_id_that_was_never_given_counts_as_missed) {
  EventHub hub(10, 1);
  hub.publish(event("a"));
  auto ear = hub.subscribe({}, 77);
  EXPECT_TRUE(ear.missed());
  EXPECT_THAT(names(ear), IsEmpty());
}

TEST(EventHub, the_text_is_made_once_and_shared) {
  EventHub hub(10, 7);
  auto a = hub.subscribe({}, std::nullopt);
  auto b = hub.subscribe({}, std::nullopt);
  hub.publish({.type = EventType::released, .name = "a", .fence = 3, .principal = "ops"});
  const auto heard_by_a = a.take(10);
  const auto heard_by_b = b.take(10);
  ASSERT_EQ(heard_by_a.size(), 1U);
  EXPECT_EQ(&heard_by_a[0]->frame(), &heard_by_b[0]->frame());
  EXPECT_EQ(heard_by_a[0]->json(),
            R"({"id":7,"type":"released","name":"a","at":"1970-01-01T00:00:00.000Z","fence":3,)"
            R"("source":"server","principal":"ops"})");
  EXPECT_EQ(heard_by_a[0]->frame(),
            "id: 7\nevent: released\ndata: " + heard_by_a[0]->json() + "\n\n");
}

TEST(EventHub, an_event_tells_whose_it_is_and_for_how_long) {
  const PublishedEvent seen(
      1, {.name = "a", .party = 0xabc, .remaining = 1500ms, .waited = 20ms, .held = 3s});
  EXPECT_NE(seen.json().find(R"("party":"0000000000000abc","expires_in_ms":1500,"waited_ms":20,)"
                             R"("held_ms":3000)"),
            std::string::npos)
      << seen.json();
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
  EventHub hub(std::size_t{publishers} * events_each, 1);
  auto steady = hub.subscribe({}, std::nullopt);
  publish_from_everywhere(hub, [&] {
    std::vector<std::jthread> visitors;
    for (int v = 0; v < 4; ++v) {
      visitors.emplace_back([&hub] {
        for (int i = 0; i < 200; ++i) {
          auto visit = hub.subscribe({.prefix = "3"}, std::nullopt);
          std::this_thread::yield();
          for (const auto& each : visit.take(100)) EXPECT_FALSE(each->frame().empty());
        }
      });
    }
  });
  const auto heard = ids(steady);
  EXPECT_EQ(heard.size(), std::size_t{publishers} * events_each);
  EXPECT_TRUE(std::ranges::is_sorted(heard, std::less_equal<>()));
  EXPECT_EQ(hub.subscribers(), 1U);
}

TEST(EventHub, whoever_comes_back_misses_nothing_and_hears_nothing_twice) {
  constexpr std::uint64_t all = std::uint64_t{publishers} * events_each;
  EventHub hub(all, 1);
  std::vector<std::uint64_t> heard;
  publish_from_everywhere(hub, [&] {
    while (heard.size() < all) {
      auto visit = hub.subscribe({}, heard.empty() ? 0 : heard.back());
      EXPECT_FALSE(visit.missed());
      std::ranges::copy(ids(visit, 700), std::back_inserter(heard));
      std::this_thread::yield();
    }
  });
  ASSERT_EQ(heard.size(), all);
  for (std::uint64_t i = 0; i < all; ++i) ASSERT_EQ(heard[i], i + 1);
}

}  // namespace
}  // namespace holdfast::server
