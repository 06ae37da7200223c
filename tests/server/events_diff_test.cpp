// SPDX-License-Identifier: Apache-2.0
#include "server/events/diff.hpp"
#include "some_views.hpp"
#include "support/timing.hpp"

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

LockView seen(std::string name, std::vector<HolderView> holders,
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
  EXPECT_THAT(news(seen("a", {holding(5, 30s)}, {queued(1, 2s)}),
                   seen("a", {holding(5, 29s)}, {queued(1, 3s)})),
              IsEmpty());
}

TEST(Diff, a_new_holder_has_acquired) {
  EXPECT_THAT(news(Snapshot{}, Snapshot{{seen("a", {holding(5)})}}), ElementsAre("acquired a 5"));
  EXPECT_THAT(news(seen("a", {holding(5)}), seen("a", {holding(5, 29s), holding(6)})),
              ElementsAre("acquired a 6"));
}

TEST(Diff, a_hand_over_counts_before_it_is_confirmed_and_its_confirmation_is_no_renewal) {
  auto claimed = holding(5, 500ms);
  claimed.claimed = true;
  EXPECT_THAT(news(Snapshot{}, Snapshot{{seen("a", {claimed})}}), ElementsAre("acquired a 5"));
  EXPECT_THAT(news(seen("a", {claimed}), seen("a", {holding(5, 30s)})), IsEmpty());
}

TEST(Diff, a_holder_that_had_time_left_has_released) {
  EXPECT_THAT(news(Snapshot{{seen("a", {holding(5, 3s)})}}, Snapshot{}),
              ElementsAre("released a 5"));
}

TEST(Diff, a_holder_whose_time_was_up_has_expired) {
  EXPECT_THAT(news(seen("a", {holding(5, 900ms)}), seen("a", {})), ElementsAre("expired a 5"));
  EXPECT_THAT(news(seen("a", {holding(5, 1050ms)}), seen("a", {})), ElementsAre("expired a 5"));
}

TEST(Diff, a_change_of_holders_is_told_in_order) {
  EXPECT_THAT(news(seen("a", {holding(5)}, {queued(1)}), seen("a", {holding(6)})),
              ElementsAre("released a 5", "acquired a 6"));
}

TEST(Diff, a_lease_that_grew_was_renewed) {
  EXPECT_THAT(news(seen("a", {holding(5, 20s)}), seen("a", {holding(5, 30s)})),
              ElementsAre("renewed a 5"));
  // Not longer, but longer than the time that passed explains.
  EXPECT_THAT(news(seen("a", {holding(5, 30s)}), seen("a", {holding(5, 29500ms)})),
              ElementsAre("renewed a 5"));
}

TEST(Diff, a_slow_listing_does_not_look_like_a_renewal) {
  EXPECT_THAT(news(seen("a", {holding(5, 30s, 1s)}), seen("a", {holding(5, 29600ms, 1400ms)})),
              IsEmpty());
  EXPECT_THAT(news(seen("a", {holding(5, 30s, 1s)}), seen("a", {holding(5, 29700ms, 1400ms)})),
              ElementsAre("renewed a 5"));
}

TEST(Diff, re_entries_share_a_fence_and_count_once) {
  EXPECT_THAT(news(Snapshot{}, Snapshot{{seen("a", {holding(5), holding(5)})}}),
              ElementsAre("acquired a 5"));
  EXPECT_THAT(news(seen("a", {holding(5, 1s), holding(5, 20s)}), seen("a", {holding(5, 19s)})),
              IsEmpty());
  EXPECT_THAT(news(seen("a", {holding(5, 1s), holding(5, 20s)}), seen("a", {})),
              ElementsAre("released a 5"));
}

TEST(Diff, an_upgrade_is_one_event) {
  auto shared = holding(5, 30s, 4s);
  shared.permits = 1;
  shared.party = 77;
  auto exclusive = holding(6, 29s, 5s);
  exclusive.party = 77;
  EXPECT_THAT(news(seen("a", {shared}, {queued(77)}), seen("a", {exclusive})),
              ElementsAre("acquired a 6"));
}

TEST(Diff, waiters_queue_and_leave) {
  EXPECT_THAT(news(seen("a", {holding(5)}), seen("a", {holding(5, 29s)}, {queued(1)})),
              ElementsAre("queued a"));
  EXPECT_THAT(news(seen("a", {holding(5)}, {queued(1)}), seen("a", {holding(5, 29s)})),
              ElementsAre("left a"));
}

TEST(Diff, a_waiter_that_was_served_did_not_leave) {
  auto served = holding(6);
  served.party = 2;
  EXPECT_THAT(news(seen("a", {holding(5)}, {queued(1, 2s), queued(2, 1s)}), seen("a", {served})),
              ElementsAre("released a 5", "left a", "acquired a 6"));
  EXPECT_THAT(news(seen("a", {holding(5)}, {queued(1, 2s), queued(2, 1s)}),
                   seen("a", {served}, {queued(1, 3s)})),
              ElementsAre("released a 5", "acquired a 6"));
}

TEST(Diff, an_event_of_a_waiter_says_who_it_is) {
  const auto said = std::make_shared<Metadata>(Metadata{.note = "nightly"});
  auto nightly = queued(9);
  nightly.metadata = said;
  const auto events = diff({}, {{seen("a", {}, {nightly})}}, {});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].party, 9U);
  EXPECT_EQ(events[0].metadata, said);
  EXPECT_EQ(events[0].kind, Kind::mutex);
  EXPECT_EQ(events[0].permits, all_permits);
}

TEST(Diff, a_waiter_that_comes_back_has_left_and_queued) {
  EXPECT_THAT(news(seen("a", {holding(5)}, {queued(1, 10s)}),
                   seen("a", {holding(5, 29s)}, {queued(1, 200ms)})),
              ElementsAre("left a", "queued a"));
}

TEST(Diff, unknown_waiters_are_told_apart_by_how_long_they_wait) {
  EXPECT_THAT(news(seen("a", {holding(5)}, {queued(0, 10s), queued(0, 5s)}),
                   seen("a", {holding(5, 29s)}, {queued(0, 6s), queued(0, 100ms)})),
              ElementsAre("left a", "queued a"));
}

TEST(Diff, the_same_metadata_is_the_same_waiter_where_no_party_is_known) {
  auto was = queued(0, 1s);
  was.metadata = std::make_shared<Metadata>(Metadata{.note = "me"});
  auto is = queued(0, 5s);  // its store counts strangely
  is.metadata = std::make_shared<Metadata>(Metadata{.note = "me"});
  EXPECT_THAT(news(seen("a", {holding(5)}, {was}), seen("a", {holding(5, 29s)}, {is})), IsEmpty());
}

TEST(Diff, nothing_is_made_up_for_locks_that_a_look_did_not_reach) {
  const Snapshot before{{seen("a", {holding(5)}), seen("b", {holding(6)})}};
  EXPECT_THAT(news(before, {{seen("a", {holding(5, 29s)})}, false}), IsEmpty());
}

TEST(Diff, what_the_look_before_did_not_reach_is_news_only_if_it_is_young) {
  const Snapshot before{{seen("a", {holding(5)})}, false};
  const Snapshot after{{seen("a", {holding(5, 29s)}), seen("old", {holding(6, 30s, 1h)}),
                        seen("new", {holding(7, 30s, 300ms)}, {queued(1, 200ms), queued(2, 2s)})}};
  EXPECT_THAT(news(before, after), ElementsAre("acquired new 7", "queued new"));
}

TEST(Diff, a_complete_look_shows_what_an_incomplete_one_saw_and_is_gone) {
  EXPECT_THAT(news({{seen("a", {holding(5)})}, false}, Snapshot{}), ElementsAre("released a 5"));
}

TEST(Diff, a_lock_that_a_listing_names_twice_counts_once) {
  const auto a = seen("a", {holding(5)});
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
      for (auto n = some(6); n > 0; --n) waiters.push_back(queued(some(4), 100ms * some(40)));
      return waiters;
    };
    const auto before = seen("a", {holding(1)}, queue());
    auto after = seen("a", {holding(1, 29s)}, queue());
    const auto granted = some(4);
    for (Fence fence = 2; fence < 2 + granted; ++fence) {
      after.holders.push_back(holding(fence));
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
  auto before = seen("a", {holding(5)});
  auto after = seen("a", {holding(5, 29s)});
  for (int i = 0; i < 10'000; ++i) {
    before.waiters.push_back(queued(0, 1s));
    if (i % 2 == 0) after.waiters.push_back(queued(0, 2s));
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(news(before, after).size(), 5'000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, test::at_most(2s));
}

}  // namespace
}  // namespace holdfast::server
