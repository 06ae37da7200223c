// SPDX-License-Identifier: Apache-2.0
#include "client/hand_client.hpp"

namespace holdfast::test {
namespace {

class Retry : public ClientTest {
 public:
  // The pauses between the questions of a client.
  static std::vector<std::chrono::nanoseconds> pauses(const HandClient& client) {
    std::vector<std::chrono::nanoseconds> found;
    const auto asked = client.line->history(Verb::acquire);
    for (std::size_t i = 1; i < asked.size(); ++i) found.push_back(asked[i].at - asked[i - 1].at);
    return found;
  }
  static void expect_doubling(const std::vector<std::chrono::nanoseconds>& found) {
    std::chrono::nanoseconds nominal = 50ms;
    for (const auto pause : found) {
      EXPECT_GE(pause, nominal * 3 / 4);
      EXPECT_LE(pause, nominal * 5 / 4);
      nominal = std::min<std::chrono::nanoseconds>(nominal * 2, 2s);
    }
  }
};

TEST_F(Retry, asks_after_50_100_200_milliseconds_and_so_on_up_to_2_seconds) {
  const auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.wait = 30s, .retry = true});
  advance(29s);
  const auto found = pauses(other);
  ASSERT_GE(found.size(), 15U);
  expect_doubling(found);
  EXPECT_EQ(waiters("orders"), 0U) << "it never queues";
  advance(1s);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
}

TEST_F(Retry, two_that_failed_together_part_ways) {
  const auto lease = mine.take("orders");
  auto third = another_client();
  auto one = other.acquire("orders", {.wait = 20s, .retry = true});
  auto two = third.acquire("orders", {.wait = 20s, .retry = true});
  advance(20s);
  EXPECT_NE(pauses(other), pauses(third));
}

TEST_F(Retry, is_what_a_store_that_cannot_queue_gets_by_itself) {
  other.line->set_queues(false);
  auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.wait = 30s});
  advance(10s);
  EXPECT_EQ(waiters("orders"), 0U);
  expect_doubling(pauses(other));
  value_of(lease.release());
  advance(2500ms);
  EXPECT_TRUE(waiting.result().has_value());
}

TEST_F(Retry, does_not_sleep_past_the_end_of_the_lease_in_the_way) {
  mine.take("orders", {.ttl = 6s}).detach();
  auto waiting = other.acquire("orders", {.wait = 30s, .retry = true});
  advance(6002ms);
  EXPECT_TRUE(waiting.result().has_value());
}

TEST_F(Retry, does_not_sleep_past_its_own_end) {
  const auto lease = mine.take("orders");
  auto waiting = other.acquire("orders", {.wait = 1s, .retry = true});
  advance(1s - 1us);
  EXPECT_FALSE(waiting.done());
  advance(1us);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
}

TEST_F(Retry, an_explicit_fifo_is_refused_where_there_is_no_queue) {
  mine.line->set_queues(false);
  EXPECT_EQ(error_of(mine.api.mutex("orders", Order::fifo).try_acquire()), Errc::unsupported);
  EXPECT_TRUE(mine.api.mutex("orders").try_acquire().has_value());
}

}  // namespace
}  // namespace holdfast::test
