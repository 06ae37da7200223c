// SPDX-License-Identifier: Apache-2.0
#include "guard/lanes.hpp"

#include "support/random_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <thread>

namespace holdfast::guard {
namespace {

using Entry = Lanes::Entry;

class LanesTest : public testing::Test {
 protected:
  struct Traveller {
    Lanes::Place place;
    bool was_called = false;
  };

  Entry enter(Traveller& who, Fence fence) {
    who.place = lanes.join("/orders/42");
    return who.place.enter(fence, [&who] { who.was_called = true; });
  }

  Lanes lanes;
  Traveller a, b, c, d;
};

TEST_F(LanesTest, requests_with_the_same_fence_go_together) {
  EXPECT_EQ(enter(a, 7), Entry::goes);
  EXPECT_EQ(enter(b, 7), Entry::goes);
  EXPECT_EQ(lanes.size(), 1U);
}

TEST_F(LanesTest, a_newer_fence_waits_until_the_last_older_one_has_ended) {
  enter(a, 7);
  enter(b, 7);
  EXPECT_EQ(enter(c, 8), Entry::waits);
  a.place.leave();
  EXPECT_FALSE(c.was_called);
  b.place.leave();
  EXPECT_TRUE(c.was_called);
}

TEST_F(LanesTest, those_who_wait_go_in_the_order_of_their_fences) {
  enter(a, 7);
  EXPECT_EQ(enter(b, 9), Entry::waits);
  EXPECT_EQ(enter(c, 8), Entry::waits);
  EXPECT_EQ(enter(d, 8), Entry::waits);
  a.place.leave();
  EXPECT_TRUE(c.was_called && d.was_called);
  EXPECT_FALSE(b.was_called);
  c.place.leave();
  EXPECT_FALSE(b.was_called);
  d.place.leave();
  EXPECT_TRUE(b.was_called);
  EXPECT_EQ(b.place.newest(), 9U);
}

TEST_F(LanesTest, an_older_fence_than_one_that_went_is_turned_away) {
  enter(a, 7);
  EXPECT_EQ(enter(b, 6), Entry::too_old);
  EXPECT_EQ(b.place.newest(), 7U);
}

TEST_F(LanesTest, whoever_joined_before_the_other_went_is_turned_away_after_it_has_ended) {
  a.place = lanes.join("/orders/42");
  enter(b, 8);
  b.place.leave();
  EXPECT_EQ(a.place.enter(7, [] {}), Entry::too_old) << "the lane was forgotten too early";
}

TEST_F(LanesTest, nothing_is_remembered_once_everybody_has_left) {
  enter(a, 7);
  enter(b, 9);
  a.place.leave();
  b.place.leave();
  EXPECT_EQ(lanes.size(), 0U);
  EXPECT_EQ(enter(c, 1), Entry::goes) << "what is older is for the store to know";
}

TEST_F(LanesTest, resources_do_not_wait_for_each_other) {
  enter(a, 7);
  auto other = lanes.join("/orders/43");
  EXPECT_EQ(other.enter(9, [] {}), Entry::goes);
  EXPECT_EQ(lanes.size(), 2U);
}

TEST_F(LanesTest, a_place_that_moves_is_still_one_place) {
  enter(a, 7);
  Lanes::Place moved = std::move(a.place);
  enter(b, 8);
  a.place.leave();
  EXPECT_FALSE(b.was_called);
  moved = Lanes::Place();
  EXPECT_TRUE(b.was_called);
}

TEST_F(LanesTest, from_many_threads_the_fences_that_go_never_decrease) {
  constexpr int threads = 4;
  constexpr int rounds = 2000;
  std::atomic<Fence> newest = 0;
  std::atomic<int> went = 0;
  // While somebody is there, the lane remembers.
  auto stays = lanes.join("/one");
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        for (int round = 0; round < rounds; ++round) {
          auto place = lanes.join("/one");
          std::atomic<bool> may_go = false;
          const Fence fence = 1 + static_cast<Fence>(round) / 3 + (thread * 7 + round) % 5;
          const auto entry = place.enter(fence, [&] {
            may_go = true;
            may_go.notify_one();
          });
          if (entry == Entry::too_old) continue;
          if (entry == Entry::waits) may_go.wait(false);
          EXPECT_LE(newest.load(), fence);
          newest = std::max(newest.load(), fence);
          ++went;
          place.leave();
        }
      });
    }
  }
  EXPECT_GT(went.load(), 0);
  stays.leave();
  EXPECT_EQ(lanes.size(), 0U);
}

}  // namespace
}  // namespace holdfast::guard
