// SPDX-License-Identifier: Apache-2.0
#include "net/resp/pipeline.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::net::resp {
namespace {

using namespace std::chrono_literals;

constexpr runtime::LocalTime start{1000s};

struct PipelineTest : testing::Test {
  PipelineTest() {
    for (Call* call : {&a, &b, &c}) pipeline.add(*call);
  }
  // Writes all that waits.
  std::string send(runtime::LocalTime now = start) {
    auto batch = pipeline.take(now);
    if (!batch) return {};
    EXPECT_TRUE(pipeline.wrote(*batch, batch->bytes.size()));
    std::string bytes = batch->bytes;
    pipeline.finish(std::move(*batch));
    return bytes;
  }

  Pipeline pipeline;
  Call a{.bytes = "aaa"}, b{.bytes = "bb"}, c{.bytes = "c"};
};

TEST_F(PipelineTest, all_that_wait_leave_in_one_batch) {
  EXPECT_EQ(send(), "aaabbc");
  EXPECT_FALSE(pipeline.take(start));
}

TEST_F(PipelineTest, replies_meet_calls_in_the_order_they_left) {
  send();
  EXPECT_EQ(pipeline.match().call, &a);
  EXPECT_EQ(pipeline.match().call, &b);
  EXPECT_EQ(pipeline.match().call, &c);
  EXPECT_TRUE(pipeline.is_idle());
}

TEST_F(PipelineTest, a_reply_that_nobody_asked_for_is_told_from_the_others) {
  EXPECT_FALSE(pipeline.match().is_expected);
}

TEST_F(PipelineTest, a_call_that_was_given_up_after_it_left_keeps_its_place) {
  send();
  const auto given_up = pipeline.give_up(b.ticket);
  EXPECT_EQ(given_up.call, &b);
  EXPECT_TRUE(given_up.may_have_happened);
  EXPECT_EQ(pipeline.match().call, &a);
  const auto orphan = pipeline.match();
  EXPECT_TRUE(orphan.is_expected);
  EXPECT_EQ(orphan.call, nullptr);
  EXPECT_EQ(pipeline.match().call, &c);
}

TEST_F(PipelineTest, a_call_that_was_given_up_before_it_left_never_leaves) {
  const auto given_up = pipeline.give_up(b.ticket);
  EXPECT_EQ(given_up.call, &b);
  EXPECT_FALSE(given_up.may_have_happened);
  EXPECT_EQ(send(), "aaac");
  EXPECT_EQ(pipeline.match().call, &a);
  EXPECT_EQ(pipeline.match().call, &c);
}

TEST_F(PipelineTest, a_call_that_has_its_answer_cannot_be_given_up) {
  send();
  EXPECT_EQ(pipeline.match().call, &a);
  EXPECT_EQ(pipeline.give_up(a.ticket).call, nullptr);
}

TEST_F(PipelineTest, a_call_of_several_replies_gets_the_last) {
  Pipeline other;
  a.replies = 3;
  other.add(a);
  other.add(b);
  auto batch = other.take(start);
  EXPECT_EQ(other.match().call, nullptr);
  EXPECT_EQ(other.match().call, nullptr);
  EXPECT_EQ(other.match().call, &a);
  EXPECT_EQ(other.match().call, &b);
}

TEST_F(PipelineTest, while_a_batch_is_written_others_wait_for_the_next) {
  auto batch = pipeline.take(start);
  Call late{.bytes = "late"};
  pipeline.add(late);
  EXPECT_FALSE(pipeline.take(start));
  EXPECT_TRUE(pipeline.wrote(*batch, batch->bytes.size()));
  pipeline.finish(std::move(*batch));
  EXPECT_EQ(send(), "late");
}

TEST_F(PipelineTest, a_parked_batch_is_taken_up_where_it_stopped) {
  auto batch = pipeline.take(start);
  EXPECT_TRUE(pipeline.wrote(*batch, 4));
  pipeline.park(std::move(*batch));
  EXPECT_TRUE(pipeline.is_writing());
  auto again = pipeline.take_up();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->rest(), "bc");
  EXPECT_FALSE(pipeline.take_up());
}

TEST_F(PipelineTest, when_the_line_is_lost_only_what_surely_did_not_leave_waits_again) {
  auto batch = pipeline.take(start);
  EXPECT_TRUE(pipeline.wrote(*batch, 4));  // one byte of b is out
  pipeline.park(std::move(*batch));
  Call late{.bytes = "late"};
  pipeline.add(late);
  EXPECT_EQ(pipeline.lose_line(), (std::vector<Call*>{&a, &b}));
  EXPECT_EQ(send(), "clate");
  EXPECT_EQ(pipeline.match().call, &c);
  EXPECT_EQ(pipeline.match().call, &late);
}

TEST_F(PipelineTest, what_is_just_being_written_when_the_line_is_lost_may_have_happened) {
  auto batch = pipeline.take(start);
  EXPECT_EQ(pipeline.lose_line().size(), 3U);
  EXPECT_FALSE(pipeline.wrote(*batch, 6));
}

TEST_F(PipelineTest, a_batch_of_a_lost_line_disturbs_nothing) {
  auto old = pipeline.take(start);
  pipeline.lose_line();
  Call next{.bytes = "next"};
  pipeline.add(next);
  auto batch = pipeline.take(start);
  ASSERT_TRUE(batch);
  pipeline.finish(std::move(*old));
  EXPECT_TRUE(pipeline.is_writing());
}

TEST_F(PipelineTest, a_call_that_was_given_up_does_not_come_back_when_the_line_is_lost) {
  auto batch = pipeline.take(start);
  pipeline.park(std::move(*batch));
  pipeline.give_up(b.ticket);
  EXPECT_TRUE(pipeline.lose_line().empty());
  EXPECT_EQ(pipeline.drain(), (std::vector<Call*>{&a, &c}));
}

TEST_F(PipelineTest, the_oldest_call_is_the_one_whose_reply_is_next) {
  EXPECT_FALSE(pipeline.oldest());
  send();
  Call late{.bytes = "late"};
  pipeline.add(late);
  send(start + 1s);
  EXPECT_EQ(pipeline.oldest(), start);
  for (int i = 0; i < 3; ++i) pipeline.match();
  EXPECT_EQ(pipeline.oldest(), start + 1s);
}

}  // namespace
}  // namespace holdfast::net::resp
