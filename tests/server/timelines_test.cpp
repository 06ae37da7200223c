// SPDX-License-Identifier: Apache-2.0
#include "server/events/timelines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

SharedEvent event(std::uint64_t id, std::string name) {
  return std::make_shared<const PublishedEvent>(id, Event{.name = std::move(name)});
}

std::vector<std::uint64_t> ids(const Timeline& timeline) {
  std::vector<std::uint64_t> all;
  for (const auto& each : timeline.events) all.push_back(each->id());
  return all;
}

TEST(Timelines, each_lock_has_its_own_events_the_oldest_first) {
  Timelines timelines;
  timelines.add(event(1, "a"));
  timelines.add(event(3, "a"));
  timelines.add(event(2, "a"));
  timelines.add(event(4, "b"));
  EXPECT_THAT(ids(timelines.of("a")), ElementsAre(1, 2, 3));
  EXPECT_THAT(ids(timelines.of("b")), ElementsAre(4));
  EXPECT_THAT(ids(timelines.of("c")), IsEmpty());
  EXPECT_FALSE(timelines.of("a").truncated);
}

TEST(Timelines, a_busy_lock_forgets_its_own_past_and_says_so) {
  Timelines timelines(3, 100);
  for (std::uint64_t id = 1; id <= 8; ++id) timelines.add(event(id, "busy"));
  timelines.add(event(9, "quiet"));
  EXPECT_THAT(ids(timelines.of("busy")), ElementsAre(6, 7, 8));
  EXPECT_TRUE(timelines.of("busy").truncated);
  EXPECT_THAT(ids(timelines.of("quiet")), ElementsAre(9));
}

TEST(Timelines, when_all_is_full_the_lock_goes_that_was_quiet_longest) {
  Timelines timelines(10, 4);
  timelines.add(event(1, "a"));
  timelines.add(event(2, "b"));
  timelines.add(event(3, "a"));
  timelines.add(event(4, "c"));
  timelines.add(event(5, "c"));
  EXPECT_THAT(ids(timelines.of("b")), IsEmpty());
  EXPECT_THAT(ids(timelines.of("a")), ElementsAre(1, 3));
  timelines.add(event(6, "d"));
  EXPECT_THAT(ids(timelines.of("a")), IsEmpty());
  EXPECT_THAT(ids(timelines.of("c")), ElementsAre(4, 5));
}

TEST(Timelines, one_lock_may_have_all_the_room) {
  Timelines timelines(10, 2);
  for (std::uint64_t id = 1; id <= 5; ++id) timelines.add(event(id, "a"));
  EXPECT_EQ(timelines.of("a").events.size(), 5U);
}

TEST(Timelines, waits_and_holds_are_counted_for_longer_than_events_are_kept) {
  Timelines timelines(1, 100);
  for (int i = 0; i < 4; ++i) {
    timelines.add(std::make_shared<const PublishedEvent>(
        1, Event{.name = "a",
                 .waited = i < 3 ? std::optional<Micros>(40ms) : std::nullopt,
                 .held = 2s}));
  }
  const auto timeline = timelines.of("a");
  EXPECT_EQ(timeline.waits.count(), 3U);
  EXPECT_EQ(timeline.waits.sum_us, 120'000U);
  EXPECT_EQ(timeline.holds.count(), 4U);
}

TEST(Timelines, what_concerns_no_lock_is_not_kept) {
  Timelines timelines;
  timelines.add(event(1, ""));
  EXPECT_THAT(ids(timelines.of("")), IsEmpty());
}

}  // namespace
}  // namespace holdfast::server
