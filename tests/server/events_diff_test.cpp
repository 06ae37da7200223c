// SPDX-License-Identifier: Apache-2.0
#include "server/events/diff.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr WallTime noon{1'794'744'000s};

HolderView holder(Fence fence, Micros remaining = 30s, Micros held_for = 0s) {
  return {.fence = fence, .remaining = remaining, .held_for = held_for, .metadata = nullptr};
}

WaiterView waiter(std::uint64_t party, Micros waiting_for = 0s) {
  return {.party = party, .waiting_for = waiting_for, .metadata = nullptr};
}

LockView lock(std::string name, std::vector<HolderView> holders,
              std::vector<WaiterView> waiters = {}) {
  return {.name = std::move(name),
          .capacity = all_permits,
          .holders = std::move(holders),
          .waiters = std::move(waiters)};
}

// "acquired a 5", "queued a"
std::vector<std::string> news(const Snapshot& before, const Snapshot& after, Micros elapsed = 1s) {
  std::vector<std::string> told;
  for (const auto& event : diff(before, after, {.elapsed = elapsed, .at = noon})) {
    EXPECT_EQ(event.source, EventSource::observed);
    EXPECT_EQ(event.at, noon);
    const auto fence = event.fence ? fmt::format(" {}", *event.fence) : "";
    told.push_back(fmt::format("{} {}{}", text::to_word(event.type), event.name, fence));
  }
  return told;
}

std::vector<std::string> news(const LockView& before, const LockView& after, Micros elapsed = 1s) {
  return news(Snapshot{{before}}, Snapshot{{after}}, elapsed);
}

TEST(Diff, nothing_happened) {
  EXPECT_THAT(news(Snapshot{}, Snapshot{}), IsEmpty());
  EXPECT_THAT(news(lock("a", {holder(5, 30s)}, {waiter(1, 2s)}),
                   lock("a", {holder(5, 29s)}, {waiter(1, 3s)})),
              IsEmpty());
}

TEST(Diff, a_new_holder_has_acquired) {
  EXPECT_THAT(news(Snapshot{}, Snapshot{{lock("a", {holder(5)})}}), ElementsAre("acquired a 5"));
  EXPECT_THAT(news(lock("a", {holder(5)}), lock("a", {holder(5, 29s), holder(6)})),
              ElementsAre("acquired a 6"));
}

TEST(Diff, a_hand_over_counts_before_it_is_confirmed_and_its_confirmation_is_no_renewal) {
  auto claimed = holder(5, 500ms);
  claimed.claimed = true;
  EXPECT_THAT(news(Snapshot{}, Snapshot{{lock("a", {claimed})}}), ElementsAre("acquired a 5"));
  EXPECT_THAT(news(lock("a", {claimed}), lock("a", {holder(5, 30s)})), IsEmpty());
}

TEST(Diff, a_holder_that_had_time_left_has_released) {
  EXPECT_THAT(news(Snapshot{{lock("a", {holder(5, 3s)})}}, Snapshot{}),
              ElementsAre("released a 5"));
}

TEST(Diff, a_holder_whose_time_was_up_has_expired) {
  EXPECT_THAT(news(lock("a", {holder(5, 900ms)}), lock("a", {})), ElementsAre("expired a 5"));
  EXPECT_THAT(news(lock("a", {holder(5, 1050ms)}), lock("a", {})), ElementsAre("expired a 5"));
}

TEST(Diff, a_change_of_holders_is_told_in_order) {
  EXPECT_THAT(news(lock("a", {holder(5)}, {waiter(1)}), lock("a", {holder(6)})),
              ElementsAre("released a 5", "acquired a 6"));
}

TEST(Diff, a_lease_that_grew_was_renewed) {
  EXPECT_THAT(news(lock("a", {holder(5, 20s)}), lock("a", {holder(5, 30s)})),
              ElementsAre("renewed a 5"));
  // Not longer, but longer than the time that passed explains.
  EXPECT_THAT(news(lock("a", {holder(5, 30s)}), lock("a", {holder(5, 29500ms)})),
              ElementsAre("renewed a 5"));
}

TEST(Diff, a_slow_listing_does_not_look_like_a_renewal) {
  EXPECT_THAT(news(lock("a", {holder(5, 30s, 1s)}), lock("a", {holder(5, 29600ms, 1400ms)})),
              IsEmpty());
  EXPECT_THAT(news(lock("a", {holder(5, 30s, 1s)}), lock("a", {holder(5, 29700ms, 1400ms)})),
              ElementsAre("renewed a 5"));
}

TEST(Diff, re_entries_share_a_fence_and_count_once) {
  EXPECT_THAT(news(Snapshot{}, Snapshot{{lock("a", {holder(5), holder(5)})}}),
              ElementsAre("acquired a 5"));
  EXPECT_THAT(news(lock("a", {holder(5, 1s), holder(5, 20s)}), lock("a", {holder(5, 19s)})),
              IsEmpty());
  EXPECT_THAT(news(lock("a", {holder(5, 1s), holder(5, 20s)}), lock("a", {})),
              ElementsAre("released a 5"));
}

TEST(Diff, an_upgrade_is_one_event) {
  auto shared = holder(5, 30s, 4s);
  shared.permits = 1;
  shared.party = 77;
  auto exclusive = holder(6, 29s, 5s);
  exclusive.party = 77;
  EXPECT_THAT(news(lock("a", {shared}, {waiter(77)}), lock("a", {exclusive})),
              ElementsAre("acquired a 6"));
}

TEST(Diff, waiters_queue_and_leave) {
  EXPECT_THAT(news(lock("a", {holder(5)}), lock("a", {holder(5, 29s)}, {waiter(1)})),
              ElementsAre("queued a"));
  EXPECT_THAT(news(lock("a", {holder(5)}, {waiter(1)}), lock("a", {holder(5, 29s)})),
              ElementsAre("left a"));
}

TEST(Diff, a_waiter_that_was_served_did_not_leave) {
  auto served = holder(6);
  served.party = 2;
  EXPECT_THAT(news(lock("a", {holder(5)}, {waiter(1, 2s), waiter(2, 1s)}), lock("a", {served})),
              ElementsAre("released a 5", "left a", "acquired a 6"));
  EXPECT_THAT(news(lock("a", {holder(5)}, {waiter(1, 2s), waiter(2, 1s)}),
                   lock("a", {served}, {waiter(1, 3s)})),
              ElementsAre("released a 5", "acquired a 6"));
}

TEST(Diff, an_event_of_a_waiter_says_who_it_is) {
  const auto said = std::make_shared<Metadata>(Metadata{.note = "nightly"});
  auto queued = waiter(9);
  queued.metadata = said;
  const auto events = diff({}, {{lock("a", {}, {queued})}}, {});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].party, 9U);
  EXPECT_EQ(events[0].metadata, said);
  EXPECT_EQ(events[0].kind, Kind::mutex);
  EXPECT_EQ(events[0].permits, all_permits);
}

TEST(Diff, a_waiter_that_comes_back_has_left_and_queued) {
  EXPECT_THAT(news(lock("a", {holder(5)}, {waiter(1, 10s)}),
                   lock("a", {holder(5, 29s)}, {waiter(1, 200ms)})),
              ElementsAre("left a", "queued a"));
}

TEST(Diff, unknown_waiters_are_told_apart_by_how_long_they_wait) {
  EXPECT_THAT(news(lock("a", {holder(5)}, {waiter(0, 10s), waiter(0, 5s)}),
                   lock("a", {holder(5, 29s)}, {waiter(0, 6s), waiter(0, 100ms)})),
              ElementsAre("left a", "queued a"));
}

TEST(Diff, the_same_metadata_is_the_same_waiter_where_no_party_is_known) {
  auto was = waiter(0, 1s);
  was.metadata = std::make_shared<Metadata>(Metadata{.note = "me"});
  auto is = waiter(0, 5s);  // its store counts strangely
  is.metadata = std::make_shared<Metadata>(Metadata{.note = "me"});
  EXPECT_THAT(news(lock("a", {holder(5)}, {was}), lock("a", {holder(5, 29s)}, {is})), IsEmpty());
}

TEST(Diff, nothing_is_made_up_for_locks_that_a_look_did_not_reach) {
  const Snapshot before{{lock("a", {holder(5)}), lock("b", {holder(6)})}};
  EXPECT_THAT(news(before, {{lock("a", {holder(5, 29s)})}, false}), IsEmpty());
}

TEST(Diff, what_the_look_before_did_not_reach_is_news_only_if_it_is_young) {
  const Snapshot before{{lock("a", {holder(5)})}, false};
  const Snapshot after{{lock("a", {holder(5, 29s)}), lock("old", {holder(6, 30s, 1h)}),
                        lock("new", {holder(7, 30s, 300ms)}, {waiter(1, 200ms), waiter(2, 2s)})}};
  EXPECT_THAT(news(before, after), ElementsAre("acquired new 7", "queued new"));
}

TEST(Diff, a_complete_look_shows_what_an_incomplete_one_saw_and_is_gone) {
  EXPECT_THAT(news({{lock("a", {holder(5)})}, false}, Snapshot{}), ElementsAre("released a 5"));
}

TEST(Diff, a_lock_that_a_listing_names_twice_counts_once) {
  const auto a = lock("a", {holder(5)});
  EXPECT_THAT(news(Snapshot{}, Snapshot{{a, a}}), ElementsAre("acquired a 5"));
  EXPECT_THAT(news(Snapshot{{a, a}}, Snapshot{}), ElementsAre("released a 5"));
}

// Whoever is who: the numbers of holders and waiters follow from the events.
TEST(Diff, the_numbers_come_out_right_whoever_is_known) {
  for (unsigned seed = 1; seed <= 2'000; ++seed) {
    std::mt19937 random(seed);
    const auto some = [&](unsigned below) { return random() % below; };
    const auto queue = [&] {
      std::vector<WaiterView> waiters;
      for (auto n = some(6); n > 0; --n) waiters.push_back(waiter(some(4), 100ms * some(40)));
      return waiters;
    };
    const auto before = lock("a", {holder(1)}, queue());
    auto after = lock("a", {holder(1, 29s)}, queue());
    const auto granted = some(4);
    for (Fence fence = 2; fence < 2 + granted; ++fence) {
      after.holders.push_back(holder(fence));
      after.holders.back().party = some(4);
    }
    std::size_t acquired = 0;
    std::size_t queued = 0;
    std::size_t left = 0;
    for (const auto& event : diff({{before}}, {{after}}, {.elapsed = 1s})) {
      acquired += event.type == EventType::acquired ? 1 : 0;
      queued += event.type == EventType::queued ? 1 : 0;
      left += event.type == EventType::left ? 1 : 0;
    }
    EXPECT_EQ(acquired, granted) << "seed " << seed;
    const auto stayed_or_served = before.waiters.size() - left;
    const auto stayed = after.waiters.size() - queued;
    EXPECT_GE(stayed_or_served, stayed) << "seed " << seed;
    EXPECT_LE(stayed_or_served - stayed, granted) << "seed " << seed;
  }
}

TEST(Diff, ten_thousand_waiters_without_a_name_are_no_trouble) {
  auto before = lock("a", {holder(5)});
  auto after = lock("a", {holder(5, 29s)});
  for (int i = 0; i < 10'000; ++i) {
    before.waiters.push_back(waiter(0, 1s));
    if (i % 2 == 0) after.waiters.push_back(waiter(0, 2s));
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(news(before, after).size(), 5'000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

}  // namespace
}  // namespace holdfast::server
