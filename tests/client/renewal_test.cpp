// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class Renewal : public ClientTest {
 public:
  std::vector<std::chrono::nanoseconds> sent_after(LocalTime start) const {
    std::vector<std::chrono::nanoseconds> times;
    for (const auto& sent : mine.line->history(Verb::renew)) times.push_back(sent.at - start);
    return times;
  }
  using Times = std::vector<std::chrono::nanoseconds>;
};

TEST_F(Renewal, comes_every_third_of_the_ttl) {
  const auto start = now();
  const auto lease = mine.take("orders", {.ttl = 30s});
  advance(35s);
  EXPECT_EQ(sent_after(start), (Times{10s, 20s, 30s}));
  EXPECT_GT(lease.remaining(), 24s);
}

TEST_F(Renewal, comes_as_often_as_the_caller_says) {
  const auto start = now();
  const auto lease = mine.take("orders", {.ttl = 30s, .renew_every = 12s});
  advance(40s);
  EXPECT_EQ(sent_after(start), (Times{12s, 24s, 36s}));
}

TEST_F(Renewal, is_off_where_the_caller_says_so) {
  const auto lease = mine.take("orders", {.ttl = 30s, .renew = false});
  advance(29s);
  EXPECT_TRUE(lease.valid());
  advance(1s);
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(lease.lost().stop_requested());
  EXPECT_EQ(mine.line->count(Verb::renew), 0U);
}

TEST_F(Renewal, keeps_a_lease_for_hours) {
  const auto lease = mine.take("orders", {.ttl = 30s});
  advance(10h);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(mine.core->lost.load(), 0U);
  EXPECT_EQ(mine.line->count(Verb::renew), 3600U);
}

TEST_F(Renewal, keeps_the_fence) {
  const auto lease = mine.take("orders", {.ttl = 30s});
  const auto fence = lease.fence();
  advance(100s);
  EXPECT_EQ(lease.fence(), fence);
  EXPECT_EQ(seen("orders").holders.at(0).fence, fence);
}

// The beat that fails, and how: after each, renewal goes on as if nothing had been.
TEST_F(Renewal, resumes_after_a_failure_of_any_kind_at_any_beat) {
  struct Trouble {
    Fault fault;
    unsigned times;
  };
  // A question that nobody answers is waited for as long as it is worth: one is, two are not.
  const Trouble troubles[] = {{Fault::refuse(), 3},
                              {Fault::lose_request(), 1},
                              {Fault::lose_reply(), 1},
                              {Fault::delay_request(700ms), 3},
                              {Fault::delay_reply(9s), 3}};
  for (const auto& [fault, times] : troubles) {
    for (unsigned beat = 0; beat < 4; ++beat) {
      auto client = another_client();
      client.line->script(Verb::renew, fault, times, beat);
      auto lease = client.take("orders", {.ttl = 30s});
      advance(200s);
      EXPECT_TRUE(lease.valid());
      EXPECT_GE(client.line->count(Verb::renew), 15U);
      EXPECT_EQ(client.core->lost.load(), 0U);
      value_of(lease.release());
    }
  }
}

TEST_F(Renewal, is_retried_soon_after_a_failure_and_then_more_slowly) {
  const auto start = now();
  mine.line->script(Verb::renew, Fault::refuse(), 6);
  const auto lease = mine.take("orders", {.ttl = 30s});
  advance(13s);
  const auto times = sent_after(start);
  ASSERT_GE(times.size(), 7U);
  EXPECT_EQ(times[0], 10s);
  EXPECT_LE(times[1], 10s + 63ms);
  for (std::size_t i = 2; i < 7; ++i) {
    EXPECT_GT(times[i] - times[i - 1], 30ms);
    EXPECT_LE(times[i] - times[i - 1], 625ms);
  }
}

TEST_F(Renewal, goes_on_until_the_margin_and_a_store_that_heals_saves_the_lease) {
  const auto lease = mine.take("orders", {.ttl = 30s});
  advance(5s);
  mine.line->pause();
  advance(24s);
  EXPECT_TRUE(lease.valid());
  mine.line->resume();
  advance(600ms);
  EXPECT_TRUE(lease.valid());
  EXPECT_GT(lease.remaining(), 20s) << "counted from when the question was asked";
}

class Confirmation : public ClientTest {
 public:
  void SetUp() override { mine.line->set_may_change(true); }
  void take(std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) {
      leases.push_back(mine.take("lock-" + std::to_string(at), {.ttl = 1h}));
    }
  }
  unsigned asked() const { return mine.line->count(Verb::renew); }
  void TearDown() override {
    leases.clear();
    ClientTest::TearDown();
  }

  std::vector<Lease> leases;
};

TEST_F(Confirmation, is_asked_for_by_every_lease_but_not_by_all_at_once) {
  take(200);
  mine.line->pause();
  mine.core->confirm_leases();
  EXPECT_EQ(asked(), client::confirmations_at_once);
  mine.line->resume();
  advance(1ms);
  EXPECT_EQ(asked(), 200U);
}

TEST_F(Confirmation, of_a_store_that_changes_again_and_again_is_one_sweep) {
  take(200);
  mine.line->pause();
  for (int times = 0; times < 10; ++times) mine.core->confirm_leases();
  EXPECT_EQ(asked(), client::confirmations_at_once);
  mine.line->resume();
  advance(1ms);
  EXPECT_EQ(asked(), 200U);
  advance(1ms);
  mine.core->confirm_leases();
  EXPECT_EQ(asked(), 400U) << "what was answered before says nothing of a store that came later";
}

TEST_F(Confirmation, is_not_asked_for_by_leases_that_were_answered_since) {
  take(3);
  advance(1ms);
  const LocalTime outage = now();
  advance(1ms);
  value_of(leases[0].extend(1h));
  mine.core->confirm_leases(outage);
  EXPECT_EQ(asked(), 1U + 2U);
}

TEST_F(Confirmation, follows_a_renewal_that_was_under_way_when_the_store_changed) {
  take(1);
  mine.line->script(Verb::renew, Fault::delay_reply(10ms));
  mine.core->confirm_leases();
  advance(1ms);
  mine.core->confirm_leases();
  EXPECT_EQ(asked(), 1U);
  advance(10ms);
  EXPECT_EQ(asked(), 2U);
}

TEST_F(Confirmation, follows_a_question_that_failed_after_the_store_changed) {
  leases.push_back(mine.take("first", {.ttl = 30s, .renew = false}));
  leases.push_back(mine.take("orders", {.ttl = 30s, .renew = false}));
  mine.line->script(Verb::renew, Fault::lose_request());
  mine.line->script(Verb::renew, Fault::delay_reply(2ms));
  mine.core->confirm_leases();
  advance(1ms);
  mine.core->confirm_leases();
  advance(5ms);
  EXPECT_EQ(asked(), 3U) << "the other one, whose question was answered, has asked again";
  advance(11s);
  EXPECT_EQ(asked(), 4U);
  advance(8s);
  EXPECT_EQ(asked(), 4U) << "it was answered";
}

TEST_F(Confirmation, that_fails_again_and_again_goes_on_until_the_lease_ends) {
  leases.push_back(mine.take("orders", {.ttl = 30s, .renew = false}));
  mine.line->script(Verb::renew, Fault::refuse(), 1000);
  mine.core->confirm_leases();
  advance(25s);
  EXPECT_GT(asked(), 40U);
  EXPECT_LT(asked(), 100U) << "without a pause";
  EXPECT_TRUE(leases.front().valid());
  advance(5s);
  EXPECT_FALSE(leases.front().valid());
}

TEST_F(Confirmation, is_asked_for_by_a_lease_that_was_granted_before_the_store_changed_and_told_after) {
  mine.line->script(Verb::acquire, Fault::delay_reply(10ms));
  auto acquiring = mine.acquire("orders", {.ttl = 30s, .renew = false});
  advance(5ms);
  mine.core->confirm_leases();
  EXPECT_EQ(asked(), 0U);
  advance(5ms);
  ASSERT_TRUE(acquiring.result().has_value());
  EXPECT_EQ(asked(), 1U);
  const auto next = mine.take("next", {.ttl = 30s});
  EXPECT_EQ(asked(), 1U) << "it was asked for after the store had changed";
}

TEST_F(Renewal, sets_the_ttl_and_never_adds_to_it) {
  const auto lease = mine.take("orders", {.ttl = 30s, .renew_every = 1s});
  advance(100s);
  EXPECT_LE(seen("orders").holders.at(0).remaining, 30s);
  EXPECT_LE(lease.remaining(), 30s);
}

TEST_F(Renewal, a_late_copy_of_an_older_renewal_shortens_nothing) {
  auto lease = mine.take("orders", {.ttl = 1s});
  advance(400ms);
  value_of(lease.extend(30s));
  mine.line->send_again(mine.line->history(Verb::renew).at(0));
  EXPECT_GT(seen("orders").holders.at(0).remaining, 29s);
}

TEST_F(Renewal, max_hold_gives_the_lock_back_in_the_end) {
  const auto start = now();
  const auto lease = mine.take("orders", {.ttl = 10s, .max_hold = 25s});
  std::optional<LocalTime> lost_at;
  const std::stop_callback on_lost(lease.lost(), [&] { lost_at = now(); });
  advance(24s);
  EXPECT_TRUE(lease.valid());
  advance(2s);
  EXPECT_FALSE(lease.valid());
  ASSERT_TRUE(lost_at);
  EXPECT_LE(*lost_at, start + 25s);
  EXPECT_TRUE(is_free("orders")) << "the store had been asked for no more than max_hold";
}

// The acquire was answered late, or was a repeated one: little is left of the lease when it starts.
TEST_F(Renewal, of_a_lease_that_starts_with_little_left_comes_before_its_end) {
  mine.line->script(Verb::acquire, Fault::lose_reply());
  auto acquiring = mine.acquire("orders", {.ttl = 700ms, .wait = 5s});
  advance(client::command_timeout + 20ms);
  ASSERT_TRUE(acquiring.result().has_value());
  ASSERT_LT(acquiring.result()->remaining(), 200ms);
  advance(5s);
  EXPECT_TRUE(acquiring.result()->valid());
  EXPECT_EQ(mine.core->lost.load(), 0U);
}

TEST_F(Renewal, of_a_lease_whose_answer_was_slow_comes_before_its_end) {
  mine.line->script(Verb::acquire, Fault::delay_reply(450ms));
  auto acquiring = mine.acquire("orders", {.ttl = 600ms});
  advance(450ms);
  ASSERT_TRUE(acquiring.result().has_value());
  advance(5s);
  EXPECT_TRUE(acquiring.result()->valid());
}

TEST_F(Renewal, with_slow_answers_keeps_up) {
  mine.line->decide_by(
      [](Verb verb) { return verb == Verb::renew ? Fault::delay_reply(200ms) : Fault::none(); });
  const auto lease = mine.take("orders", {.ttl = 600ms});
  advance(60s);
  EXPECT_TRUE(lease.valid());
  EXPECT_EQ(mine.core->lost.load(), 0U);
}

TEST_F(Renewal, ten_thousand_leases_on_one_runtime_are_all_renewed_in_time) {
  constexpr std::size_t count = 10'000;
  const auto core = client::make_core(store->inner(), runtime);
  const Client many(core);
  std::vector<Lease> leases;
  leases.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    leases.push_back(value_of(many.mutex("job-" + std::to_string(i)).acquire({.ttl = 30s})));
    advance(1ms);
  }
  EXPECT_EQ(runtime->timers(), count);
  advance(60s);
  EXPECT_EQ(core->lost.load(), 0U);
  for (const auto& lease : leases) ASSERT_GT(lease.remaining(), 19s);
}

}  // namespace
}  // namespace holdfast::test
