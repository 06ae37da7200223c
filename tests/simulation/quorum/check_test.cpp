// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/check.hpp"

#include <gmock/gmock.h>

namespace holdfast::simulation::quorum {
namespace {

using history::Attempt;
using history::Event;
using history::History;
using history::Rule;
using history::Time;
using history::What;

// Attempts of as many processes, on one lock.
class Story {
 public:
  explicit Story(std::uint32_t attempts) {
    history_.names = {"lock", "another"};
    for (std::uint32_t i = 1; i <= attempts; ++i) {
      history_.attempts.push_back({.name = 1, .process = i, .permits = UINT32_MAX});
    }
  }
  Story& shares(history::OpId op) {
    history_.attempts[op - 1].permits = 1;
    return *this;
  }

  Story& is_of_another_name(history::OpId op) {
    history_.attempts[op - 1].name = 2;
    return *this;
  }
  Story& enters_again(history::OpId op, history::OpId outer) {
    for (const auto each : {op, outer}) {
      history_.attempts[each - 1].owner = outer;
      history_.attempts[each - 1].reentrant = true;
    }
    return *this;
  }

  Story& asks(Time at, history::OpId op) { return add({.at = at, .op = op, .what = What::asked}); }
  Story& holds(Time at, history::OpId op, std::uint64_t fence, Time until) {
    return add({.at = at, .until = until, .fence = fence, .op = op, .what = What::granted});
  }
  Story& renews(Time at, history::OpId op, Time until) {
    return add({.at = at, .until = until, .op = op, .what = What::renewed});
  }
  Story& ends(Time at, history::OpId op, What what = What::releasing) {
    return add({.at = at, .op = op, .what = what});
  }
  Story& is_forced(Time at, std::uint64_t fence = 0) {
    return add({.at = at, .fence = fence, .name = 1, .what = What::forced});
  }
  Story& crashes(Time at, history::ProcessId process) {
    return add({.at = at, .until = history::for_ever, .process = process, .what = What::stopped});
  }

  std::vector<Rule> broken(const Promises& promises = {}) const {
    std::vector<Rule> rules;
    for (const auto& violation : check(history_, promises)) rules.push_back(violation.rule);
    return rules;
  }

 private:
  Story& add(Event event) {
    history_.events.push_back(event);
    return *this;
  }
  History history_;
};

using testing::ElementsAre;
using testing::IsEmpty;

TEST(QuorumCheck, lets_one_holder_follow_another) {
  const auto story =
      Story(2).asks(0, 1).holds(1, 1, 5, 10).ends(3, 1).asks(2, 2).holds(4, 2, 6, 14);
  EXPECT_THAT(story.broken(), IsEmpty());
}

TEST(QuorumCheck, sees_two_that_believe_at_once) {
  const auto story = Story(2).asks(0, 1).asks(0, 2).holds(1, 1, 5, 10).holds(9, 2, 6, 19);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::no_overlap));
  EXPECT_THAT(story.broken({.exclusive_until = 9}), IsEmpty());
}

TEST(QuorumCheck, sees_a_lease_that_is_renewed_beside_the_next_one) {
  const auto story =
      Story(2).asks(0, 1).asks(0, 2).holds(1, 1, 5, 10).holds(11, 2, 6, 21).renews(12, 1, 22);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::no_overlap));
}

TEST(QuorumCheck, sees_a_renewed_lease_that_the_next_one_meets) {
  const auto story =
      Story(2).asks(0, 1).asks(0, 2).holds(1, 1, 5, 10).renews(5, 1, 15).holds(11, 2, 6, 21);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::no_overlap));
}

TEST(QuorumCheck, forgets_what_was_lost_and_who_crashed) {
  const auto lost =
      Story(2).asks(0, 1).asks(0, 2).holds(1, 1, 5, 10).ends(8, 1, What::lost).holds(9, 2, 6, 19);
  EXPECT_THAT(lost.broken(), IsEmpty());
  const auto crashed =
      Story(2).asks(0, 1).asks(0, 2).holds(1, 1, 5, 10).crashes(8, 1).holds(9, 2, 6, 19);
  EXPECT_THAT(crashed.broken(), IsEmpty());
}

TEST(QuorumCheck, lets_readers_share_but_not_with_a_writer) {
  auto story = Story(2).shares(1).asks(0, 1).asks(0, 2).holds(1, 1, 5, 10).holds(2, 2, 4, 12);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::fences_grow, Rule::no_overlap));
  EXPECT_THAT(story.shares(2).broken(), IsEmpty());
}

TEST(QuorumCheck, sees_a_fence_that_two_grants_share_of_whatever_names) {
  auto readers = Story(2).shares(1).shares(2).asks(0, 1).asks(0, 2);
  EXPECT_THAT(readers.holds(1, 1, 5, 10).holds(2, 2, 5, 12).broken(),
              ElementsAre(Rule::fences_grow));
  auto names = Story(2).is_of_another_name(2).asks(0, 1).asks(0, 2);
  names.holds(1, 1, 5, 10).holds(2, 2, 5, 12);
  EXPECT_THAT(names.broken(), ElementsAre(Rule::fences_grow));
  EXPECT_THAT(names.broken({.fences = false}), IsEmpty());
}

TEST(QuorumCheck, lets_an_owner_enter_again_with_its_fence_or_a_larger_one) {
  const auto same =
      Story(2).enters_again(2, 1).asks(0, 1).holds(1, 1, 5, 10).asks(2, 2).holds(3, 2, 5, 10);
  EXPECT_THAT(same.broken(), IsEmpty());
  const auto larger =
      Story(2).enters_again(2, 1).asks(0, 1).holds(1, 1, 5, 10).asks(2, 2).holds(3, 2, 6, 10);
  EXPECT_THAT(larger.broken(), IsEmpty());
  const auto smaller =
      Story(2).enters_again(2, 1).asks(0, 1).holds(1, 1, 5, 10).asks(2, 2).holds(3, 2, 4, 10);
  EXPECT_THAT(smaller.broken(), ElementsAre(Rule::fences_grow));
}

TEST(QuorumCheck, does_not_wonder_at_a_lease_that_was_ended_by_force) {
  const auto story = Story(2)
                         .asks(0, 1)
                         .holds(1, 1, 5, 10)
                         .is_forced(2)
                         .is_forced(3, 7)
                         .asks(4, 2)
                         .holds(5, 2, 8, 15);
  EXPECT_THAT(story.broken(), IsEmpty());
  const auto too_small = Story(2)
                             .asks(0, 1)
                             .holds(1, 1, 5, 10)
                             .is_forced(2)
                             .is_forced(3, 7)
                             .asks(4, 2)
                             .holds(5, 2, 6, 15);
  EXPECT_THAT(too_small.broken(), ElementsAre(Rule::fences_grow));
  const auto next = Story(3)
                        .asks(0, 1)
                        .is_forced(1, 4)
                        .asks(2, 2)
                        .asks(2, 3)
                        .holds(3, 2, 5, 10)
                        .holds(4, 3, 6, 10);
  EXPECT_THAT(next.broken(), ElementsAre(Rule::no_overlap));
}

TEST(QuorumCheck, sees_a_fence_that_is_smaller_than_one_before_it_asked) {
  const auto story =
      Story(2).asks(0, 1).holds(1, 1, 5, 10).ends(2, 1).asks(3, 2).holds(4, 2, 4, 14);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::fences_grow));
  // Whatever the clocks did.
  EXPECT_THAT(story.broken({.exclusive_until = 0}), ElementsAre(Rule::fences_grow));
  EXPECT_THAT(story.broken({.fences = false}), IsEmpty());
}

TEST(QuorumCheck, sees_fences_that_do_not_grow_in_the_order_of_the_grants) {
  const auto smaller =
      Story(2).asks(0, 1).asks(0, 2).holds(1, 1, 5, 10).ends(2, 1).holds(4, 2, 4, 14);
  EXPECT_THAT(smaller.broken(), ElementsAre(Rule::fences_grow));
  EXPECT_THAT(smaller.broken({.exclusive_until = 3}), IsEmpty());
  const auto same = Story(2).asks(0, 1).asks(0, 2).holds(1, 1, 5, 10).ends(2, 1).holds(4, 2, 5, 14);
  EXPECT_THAT(same.broken(), ElementsAre(Rule::fences_grow));
}

}  // namespace
}  // namespace holdfast::simulation::quorum
