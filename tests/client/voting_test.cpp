// SPDX-License-Identifier: Apache-2.0
//
// What a client does differently with a store that votes.
#include "client/acquire.hpp"
#include "client/hand_client.hpp"
#include "client/voting_store.hpp"

#include <gmock/gmock.h>

#include <set>

namespace holdfast::test {
namespace {

using model::RequestId;
using testing::HasSubstr;

class Voting : public testing::Test {
 public:
  void open(store::Retry retry = {}) {
    store = std::make_shared<VotingStore>(runtime, retry);
    mine.emplace(FaultStore::over(runtime, [this] { return store; }), runtime);
    other.emplace(mine->line->another_line(), runtime);
  }
  void TearDown() override {
    EXPECT_TRUE(runtime->settle()) << runtime->timers() << " timers go on for ever";
    Running<Result<LockPage>> listing(store->list({}));
    EXPECT_TRUE(value_of(listing.result()).locks.empty());
  }
  static RequestId request_of(const Sent& sent) {
    const auto& verb = std::get<model::LockCommand>(sent.request.command).verb;
    if (const auto* acquire = std::get_if<model::Acquire>(&verb)) return acquire->request;
    return std::get<model::Release>(verb).request;
  }
  static std::vector<Micros> pauses(const HandClient& client) {
    std::vector<Micros> found;
    const auto asked = client.line->history(Verb::acquire);
    for (std::size_t i = 1; i < asked.size(); ++i) {
      found.push_back(std::chrono::duration_cast<Micros>(asked[i].at - asked[i - 1].at));
    }
    return found;
  }
  unsigned questions() const { return other->line->count(Verb::acquire); }
  void advance(std::chrono::nanoseconds time) { runtime->advance(time); }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::shared_ptr<VotingStore> store;
  std::optional<HandClient> mine;
  std::optional<HandClient> other;
};

TEST_F(Voting, every_question_of_a_wait_has_a_request_of_its_own) {
  open();
  auto lease = mine->take("orders");
  auto waiting = other->acquire("orders", {.wait = 2s});
  advance(2s);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
  std::set<RequestId> requests;
  for (const auto& sent : other->line->history(Verb::acquire)) requests.insert(request_of(sent));
  EXPECT_GT(questions(), 3U);
  EXPECT_EQ(requests.size(), questions());
  EXPECT_FALSE(requests.contains(RequestId::any));
  value_of(lease.release());
}

TEST_F(Voting, a_lease_is_held_under_the_request_that_won) {
  open();
  auto first = mine->take("orders");
  auto waiting = other->acquire("orders", {.wait = 20s});
  advance(1s);
  value_of(first.release());
  advance(2s);
  auto second = value_of(std::move(waiting.result()));
  const auto asked = other->line->history(Verb::acquire);
  ASSERT_GT(asked.size(), 1U);
  value_of(second.extend(10s));
  EXPECT_EQ(value_of(second.release()), Released::released);
  EXPECT_EQ(request_of(other->line->history(Verb::release).back()), request_of(asked.back()));
}

TEST_F(Voting, what_was_not_granted_needs_no_release) {
  open();
  auto lease = mine->take("orders");
  auto waiting = other->acquire("orders", {.wait = 1s});
  advance(1s);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
  EXPECT_EQ(other->line->count(Verb::release), 0U);
  value_of(lease.release());
}

TEST_F(Voting, a_question_without_an_answer_is_withdrawn) {
  open();
  other->line->script(Verb::acquire, Fault::lose_reply());
  auto trying = other->acquire("orders");
  advance(1min);
  EXPECT_FALSE(trying.result().has_value());
  EXPECT_EQ(request_of(other->line->history(Verb::release).back()),
            request_of(other->line->history(Verb::acquire).back()));
}

TEST_F(Voting, a_wait_whose_answer_was_lost_does_not_wait_behind_itself) {
  open();
  other->line->script(Verb::acquire, Fault::lose_reply());
  auto waiting = other->acquire("orders", {.ttl = 1h, .wait = 10s});
  advance(5s);
  ASSERT_TRUE(waiting.done());
  auto lease = value_of(std::move(waiting.result()));
  const auto asked = other->line->history(Verb::acquire);
  EXPECT_EQ(request_of(other->line->history(Verb::release).front()), request_of(asked.front()));
  EXPECT_EQ(value_of(lease.release()), Released::released);
}

TEST_F(Voting, a_try_is_made_as_often_as_the_store_says_and_no_more) {
  for (const std::uint32_t times : {0U, 1U, 3U}) {
    open({.times = times, .delay = 200ms, .jitter = 100ms});
    auto lease = mine->take("orders");
    auto trying = other->acquire("orders");
    advance(10s);
    EXPECT_EQ(error_of(trying.result()), Errc::busy);
    EXPECT_EQ(questions(), times + 1);
    value_of(lease.release());
  }
}

TEST_F(Voting, tries_are_the_delay_apart_give_or_take_the_jitter) {
  open({.times = 200, .delay = 200ms, .jitter = 100ms});
  auto lease = mine->take("orders", {.ttl = 1h});
  auto trying = other->acquire("orders");
  advance(2min);
  EXPECT_EQ(error_of(trying.result()), Errc::busy);
  const auto found = pauses(*other);
  ASSERT_EQ(found.size(), 200U);
  for (const auto pause : found) {
    EXPECT_GE(pause, 100ms);
    EXPECT_LE(pause, 300ms);
  }
  EXPECT_LT(std::ranges::min(found), 130ms);
  EXPECT_GT(std::ranges::max(found), 270ms);
  value_of(lease.release());
}

TEST_F(Voting, a_try_ends_with_the_first_that_wins) {
  open({.times = 5, .delay = 100ms, .jitter = {}});
  mine->take("orders", {.ttl = 150ms}).detach();
  auto trying = other->acquire("orders");
  advance(200ms);
  ASSERT_TRUE(trying.done());
  auto lease = value_of(std::move(trying.result()));
  EXPECT_EQ(questions(), 3U);
  value_of(lease.release());
}

TEST_F(Voting, a_wait_is_not_limited_by_the_number_of_tries) {
  open({.times = 1, .delay = 10ms, .jitter = {}});
  auto lease = mine->take("orders");
  auto waiting = other->acquire("orders", {.wait = 3s});
  advance(3s - 1us);
  EXPECT_FALSE(waiting.done());
  EXPECT_GT(questions(), 3U);
  advance(1us);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
  value_of(lease.release());
}

TEST_F(Voting, a_try_can_be_cancelled_between_two_questions) {
  open({.times = 5, .delay = 1s, .jitter = {}});
  auto lease = mine->take("orders");
  std::stop_source stop;
  auto trying = other->acquire("orders", {}, stop.get_token());
  advance(100ms);
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error_of(trying.result()), Errc::cancelled);
  advance(10s);
  EXPECT_EQ(questions(), 1U);
  value_of(lease.release());
}

TEST_F(Voting, a_try_without_a_quorum_is_tried_again) {
  open({.times = 2, .delay = 100ms, .jitter = {}});
  store->lose_quorum(2);
  auto trying = other->acquire("orders");
  advance(200ms);
  value_of(value_of(std::move(trying.result())).release());
  store->lose_quorum(3);
  auto in_vain = other->acquire("orders");
  advance(200ms);
  EXPECT_EQ(error_of(in_vain.result()), Errc::quorum_not_reached);
  EXPECT_EQ(questions(), 6U);
}

TEST_F(Voting, a_wait_goes_on_without_a_quorum_until_there_is_one) {
  open();
  store->lose_quorum(4);
  auto waiting = other->acquire("orders", {.wait = 20s});
  EXPECT_FALSE(waiting.done());
  advance(2s);
  value_of(value_of(std::move(waiting.result())).release());
}

TEST_F(Voting, a_wait_that_ends_without_a_quorum_says_so_instead_of_timed_out) {
  open();
  store->lose_quorum(1000);
  auto waiting = other->acquire("orders", {.wait = 2s});
  advance(2s - 1us);
  EXPECT_FALSE(waiting.done());
  advance(1us);
  EXPECT_EQ(error_of(waiting.result()), Errc::quorum_not_reached);
  EXPECT_THAT(waiting.result().error().message, HasSubstr("1 of 3 members"));
}

TEST_F(Voting, a_wait_that_ends_behind_another_timed_out_whatever_was_before) {
  open();
  auto lease = mine->take("orders");
  store->lose_quorum(2);
  auto waiting = other->acquire("orders", {.wait = 2s});
  advance(2s);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
  value_of(lease.release());
}

}  // namespace
}  // namespace holdfast::test
