// SPDX-License-Identifier: Apache-2.0
//
// A store that is away is never reported as a lock that is held.
#include <holdfast/locked.hpp>
#include <holdfast/metrics.hpp>

#include "client/hand_client.hpp"
#include "client/real_client.hpp"
#include "runtime/log.hpp"

#include <gmock/gmock.h>

#include <shared_mutex>
#include <string>
#include <system_error>
#include <vector>

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr unsigned for_ever = 1'000'000;

std::vector<std::string>& outage_lines() {
  static std::vector<std::string> said;
  return said;
}

class OutageOfTheStore : public ClientTest {
 public:
  void SetUp() override {
    outage_lines().clear();
    runtime::send_warnings_to(
        [](std::string_view message) { outage_lines().emplace_back(message); });
  }
  void TearDown() override {
    runtime::send_warnings_to(nullptr);
    ClientTest::TearDown();
  }
};

TEST_F(OutageOfTheStore, a_wait_on_a_dead_store_ends_with_its_reason_and_not_as_timed_out) {
  mine.line->script(Verb::acquire, Fault::refuse(), for_ever);
  auto waiting = mine.acquire("orders", {.wait = 5s});
  advance(5s - 1us);
  EXPECT_FALSE(waiting.done()) << "it may come back";
  advance(1us);
  EXPECT_EQ(error_of(waiting.result()), Errc::unavailable);
  EXPECT_THAT(waiting.result().error().message, HasSubstr("'orders': tried for 5000ms: "));
  const auto counted = mine.api.metrics();
  EXPECT_EQ(counted.failed, 1U);
  EXPECT_EQ(counted.timed_out, 0U);
}

TEST_F(OutageOfTheStore, a_store_that_hangs_is_not_a_busy_lock) {
  mine.line->script(Verb::acquire, Fault::lose_request(), for_ever);
  auto waiting = mine.acquire("orders", {.wait = 5s});
  advance(6s);
  EXPECT_EQ(error_of(waiting.result()), Errc::outcome_unknown);
}

TEST_F(OutageOfTheStore, one_that_came_back_and_says_busy_is_believed) {
  const auto lease = other.take("orders");
  mine.line->script(Verb::acquire, Fault::refuse(), 5);
  auto waiting = mine.acquire("orders", {.wait = 10s});
  advance(10s);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
}

TEST_F(OutageOfTheStore, one_that_goes_away_during_a_wait_is_told_with_the_place_in_the_queue) {
  const auto lease = other.take("orders", {.ttl = 60s});
  auto waiting = mine.acquire("orders", {.wait = 10s});
  advance(2s);
  EXPECT_EQ(waiters("orders"), 1U);
  mine.line->script(Verb::acquire, Fault::refuse(), for_ever);
  mine.line->script(Verb::release, Fault::refuse(), 1);
  advance(8s);
  EXPECT_EQ(error_of(waiting.result()), Errc::unavailable);
  EXPECT_THAT(waiting.result().error().message, HasSubstr("(was waiting behind 0)"));
  EXPECT_THAT(waiting.result().error().message, HasSubstr("without the store"));
  advance(5s);
  EXPECT_EQ(waiters("orders"), 0U) << "withdrawn as soon as it was back";
}

TEST_F(OutageOfTheStore, one_that_refuses_the_withdrawal_was_away_at_the_end) {
  const auto lease = other.take("orders", {.ttl = 60s});
  auto waiting = mine.acquire("orders", {.wait = 500ms});
  mine.line->script(Verb::release, Fault::refuse(), 1);
  advance(500ms);
  EXPECT_EQ(mine.line->count(Verb::acquire), 1U) << "no question since it was alive";
  EXPECT_EQ(error_of(waiting.result()), Errc::unavailable);
  advance(5s);
}

TEST_F(OutageOfTheStore, a_withdrawal_that_takes_its_time_says_nothing_about_the_store) {
  const auto lease = other.take("orders", {.ttl = 60s});
  auto waiting = mine.acquire("orders", {.wait = 500ms});
  mine.line->script(Verb::release, Fault::lose_request(), 1);
  advance(600ms);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
  advance(5s);
}

TEST_F(OutageOfTheStore, a_wait_too_short_for_an_answer_timed_out_and_is_withdrawn) {
  mine.line->script(Verb::acquire, Fault::lose_reply());
  auto waiting = mine.acquire("orders", {.wait = 100ms});
  advance(100ms);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
  EXPECT_THAT(waiting.result().error().message, HasSubstr("did not answer within 100ms"));
  EXPECT_TRUE(is_free("orders"));
}

TEST_F(OutageOfTheStore, a_last_question_that_is_cut_short_timed_out_behind_the_holder) {
  const auto lease = other.take("orders", {.ttl = 60s});
  auto waiting = mine.acquire("orders", {.wait = 1250ms});
  mine.line->script(Verb::acquire, Fault::lose_request(), for_ever);
  advance(1250ms);
  ASSERT_GT(mine.line->count(Verb::acquire), 1U);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
  EXPECT_THAT(waiting.result().error().message, HasSubstr("did not come free"));
}

TEST_F(OutageOfTheStore, a_last_question_that_was_not_sent_in_time_says_nothing_about_the_store) {
  const auto lease = other.take("orders", {.ttl = 60s});
  auto waiting = mine.acquire("orders", {.wait = 1250ms});
  advance(700ms);
  mine.line->pause();
  advance(600ms);
  ASSERT_GT(mine.line->count(Verb::acquire), 1U);
  EXPECT_EQ(error_of(waiting.result()), Errc::timed_out);
}

TEST_F(OutageOfTheStore, a_short_wait_on_a_store_that_refuses_is_unavailable) {
  mine.line->script(Verb::acquire, Fault::refuse(), for_ever);
  auto waiting = mine.acquire("orders", {.wait = 100ms});
  advance(100ms);
  EXPECT_EQ(error_of(waiting.result()), Errc::unavailable);
}

TEST_F(OutageOfTheStore, whoever_asks_again_and_again_is_told_of_it_too) {
  mine.line->script(Verb::acquire, Fault::refuse(), for_ever);
  auto waiting = mine.acquire("orders", {.wait = 3s, .retry = true});
  advance(3s);
  EXPECT_EQ(error_of(waiting.result()), Errc::unavailable);
}

TEST_F(OutageOfTheStore, is_logged_once_and_then_rarely_however_many_wait) {
  mine.line->script(Verb::acquire, Fault::refuse(), for_ever);
  auto waiting = mine.acquire("orders", {.wait = max_wait});
  auto another = mine.acquire("invoices", {.wait = max_wait});
  advance(client::outage_log_delay - 10ms);
  EXPECT_TRUE(outage_lines().empty()) << "a blip";
  advance(10s);
  ASSERT_EQ(outage_lines().size(), 1U);
  EXPECT_THAT(outage_lines()[0], HasSubstr("waiting for '"));
  EXPECT_THAT(outage_lines()[0], HasSubstr("the store has been away for "));
  advance(2 * client::outage_log_interval);
  EXPECT_EQ(outage_lines().size(), 3U);
}

// The rest on the process' own runtime, because these calls block.
class DeadStore : public testing::Test {
 public:
  DeadStore() {
    auto runtime = runtime::shared_runtime();
    line = FaultStore::over(runtime,
                            [runtime] { return backends::memory::make_memory_store(runtime); });
    line->script(Verb::acquire, Fault::refuse(), for_ever);
    client.emplace(client::make_core(line, runtime));
  }
  std::shared_ptr<FaultStore> line;
  std::optional<Client> client;
};

template <typename Call>
std::error_code thrown_by(Call&& call) {
  try {
    (void)call();
  } catch (const std::system_error& error) {
    return error.code();
  }
  return {};
}

TEST_F(DeadStore, the_standards_timed_calls_throw_as_try_lock_does) {
  auto orders = client->mutex("orders");
  auto page = client->read_write("page");
  const auto soon = [] { return std::chrono::steady_clock::now() + 30ms; };
  EXPECT_EQ(thrown_by([&] { return orders.try_lock(); }), Errc::unavailable);
  EXPECT_EQ(thrown_by([&] { return orders.try_lock_for(30ms); }), Errc::unavailable);
  EXPECT_EQ(thrown_by([&] { return orders.try_lock_until(soon()); }), Errc::unavailable);
  EXPECT_EQ(thrown_by([&] { return page.try_lock_shared_for(30ms); }), Errc::unavailable);
  EXPECT_EQ(thrown_by([&] { return page.try_lock_shared_until(soon()); }), Errc::unavailable);
}

TEST_F(DeadStore, skip_if_busy_does_not_skip) {
  bool ran = false;
  auto work = locked(*client, "a", {.wait = 30ms}, [&] { ran = true; }, skip_if_busy);
  EXPECT_EQ(error_of(work()), Errc::unavailable);
  EXPECT_FALSE(ran);
}

TEST_F(DeadStore, several_names_are_not_busy_either) {
  EXPECT_EQ(error_of(client->acquire_all({"a", "b"}, {.wait = 30ms})), Errc::unavailable);
}

TEST_F(DeadStore, what_is_thrown_has_the_code_that_happened) {
  EXPECT_EQ(thrown_by([&] { return client->mutex("").try_lock(); }), Errc::bad_input);
  EXPECT_EQ(thrown_by([&] { return client->mutex("").try_lock(); }), std::errc::invalid_argument);
  const auto away = thrown_by([&] { return client->mutex("a").try_lock(); });
  EXPECT_EQ(away, std::errc::host_unreachable);
  EXPECT_NE(away, std::errc::resource_unavailable_try_again);
  EXPECT_EQ(away.category(), error_category());
}

}  // namespace
}  // namespace holdfast::test
