// SPDX-License-Identifier: Apache-2.0
#include "forrst/client_backoff.hpp"

#include "frame_server.hpp"
#include "support/timing.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <limits>
#include <set>

namespace holdfast::forrst {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using test::failure_with;
using test::FramePeer;
using test::FrameServer;
using test::reply_to;

constexpr auto most_random = std::numeric_limits<std::uint64_t>::max();

// Fails `failures` times with `rest`, then gives a result. Counts, and notes what came.
struct Scripted {
  std::string rest;
  int failures = 1;
  std::atomic<int> asked{0};
  std::vector<boost::json::value> requests{};
  std::mutex mutex{};

  FrameServer::Script script() {
    return [this](FramePeer& peer, int) {
      for (auto request = peer.request(); !request.empty(); request = peer.request()) {
        {
          const std::lock_guard lock(mutex);
          requests.push_back(boost::json::parse(request));
        }
        const bool is_failure = asked++ < failures;
        peer.answer(reply_to(request, is_failure ? rest : R"("result":"done")"));
      }
    };
  }
};

CallOptions call_with(Backoff backoff) {
  return {.function = "f", .backoff = backoff, .timeout = 1min};
}

CallReply reply_with(std::vector<Fault> faults) {
  CallReply reply;
  reply.faults = std::move(faults);
  return reply;
}

TEST(ForrstBackoff, delays_grow_up_to_the_most_and_jitter_shortens_them) {
  const Backoff backoff{.first = 100ms, .factor = 2, .most = 1s, .jitter = 0.5};
  EXPECT_EQ(next_delay(backoff, 1, 0), 100ms);
  EXPECT_EQ(next_delay(backoff, 2, 0), 200ms);
  EXPECT_EQ(next_delay(backoff, 4, 0), 800ms);
  EXPECT_EQ(next_delay(backoff, 5, 0), 1s);
  EXPECT_EQ(next_delay(backoff, 1'000'000, 0), 1s);
  EXPECT_EQ(next_delay(backoff, 1, most_random), 50ms);
  EXPECT_EQ(next_delay(backoff, 5, most_random), 500ms);
  const Backoff steady{.first = 10ms, .factor = 1, .most = 10ms, .jitter = 0};
  EXPECT_EQ(next_delay(steady, 7, most_random), 10ms);
}

TEST(ForrstBackoff, attempts_are_counted_in_all_and_patience_is_a_minimum) {
  const Backoff backoff{.attempts = 3, .first = 100ms, .most = 1s, .jitter = 0};
  EXPECT_EQ(delay_before_next(backoff, 1, 0s, 0), 100ms);
  EXPECT_EQ(delay_before_next(backoff, 2, 0s, 0), 200ms);
  EXPECT_EQ(delay_before_next(backoff, 3, 0s, 0), std::nullopt);
  EXPECT_EQ(delay_before_next(backoff, 1, 700ms, 0), 700ms);
  EXPECT_EQ(delay_before_next(backoff, 1, 2s, 0), std::nullopt);
}

TEST(ForrstBackoff, only_errors_that_surely_did_nothing_are_tried_again) {
  const auto of = [](std::string_view code) { return Fault{.code = std::string(code)}; };
  EXPECT_FALSE(may_try_again(reply_with({})));
  for (const auto code :
       {codes::lock_acquisition_failed, codes::lock_timeout, codes::idempotency_processing}) {
    EXPECT_TRUE(may_try_again(reply_with({of(code)}))) << code;
    EXPECT_FALSE(may_try_again(reply_with({of(code), of(codes::invalid_arguments)}))) << code;
  }
  for (const auto code : {codes::unavailable, codes::internal_error, codes::deadline_exceeded,
                          codes::dependency_error, codes::rate_limited, codes::lock_not_found}) {
    EXPECT_FALSE(may_try_again(reply_with({of(code)}))) << code;
  }
  auto forbidden = reply_with({of(codes::lock_timeout)});
  forbidden.extensions.push_back(
      {.urn = "urn:cline:forrst:ext:retry", .options = {{"allowed", false}}});
  EXPECT_FALSE(may_try_again(forbidden));
}

TEST(ForrstBackoff, patience_is_the_longest_that_the_answer_asks_for) {
  auto reply = reply_with(
      {{.code = "A", .details = {{"retry_after", {{"value", 2}, {"unit", "second"}}}}},
       {.code = "B", .details = {{"retry_after", {{"value", 1500}, {"unit", "millisecond"}}}}},
       {.code = "C", .details = {{"retry_after", "soon"}}}});
  EXPECT_EQ(asked_patience(reply), 2s);
  reply.extensions.push_back(
      {.urn = "urn:forrst:ext:retry", .options = {{"after", {{"value", 1}, {"unit", "minute"}}}}});
  EXPECT_EQ(asked_patience(reply), 1min);
  EXPECT_EQ(asked_patience(reply_with({})), 0s);
}

TEST(ForrstBackoff, a_lock_that_comes_free_is_had_by_trying_again_with_new_ids) {
  for (const auto code :
       {codes::lock_acquisition_failed, codes::lock_timeout, codes::idempotency_processing}) {
    Scripted scripted{.rest = failure_with(code), .failures = 2};
    const FrameServer server(scripted.script());
    const auto began = steady_clock::now();
    const auto reply =
        Client::open(server.url())->call(call_with({.first = 20ms, .factor = 2, .jitter = 0}));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_TRUE(reply->ok());
    EXPECT_EQ(reply->attempts, 3U);
    EXPECT_GE(steady_clock::now() - began, 60ms);
    std::set<std::string> ids;
    for (const auto& each : scripted.requests) ids.emplace(each.at("id").as_string());
    EXPECT_EQ(ids.size(), 3U);
  }
}

TEST(ForrstBackoff, the_last_failure_is_what_comes_back) {
  Scripted scripted{.rest = failure_with("LOCK_TIMEOUT"), .failures = 100};
  const FrameServer server(scripted.script());
  const auto reply =
      Client::open(server.url())->call(call_with({.attempts = 4, .first = 1ms, .most = 1ms}));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_TRUE(reply->has("LOCK_TIMEOUT"));
  EXPECT_EQ(reply->attempts, 4U);
  EXPECT_EQ(scripted.asked, 4);
}

TEST(ForrstBackoff, nothing_is_tried_again_unless_the_caller_wants_it_and_it_is_safe) {
  for (const auto* code : {"UNAVAILABLE", "INTERNAL_ERROR", "RATE_LIMITED"}) {
    Scripted scripted{.rest = failure_with(code)};
    const FrameServer server(scripted.script());
    auto options = call_with({.first = 1ms});
    options.idempotency_key = "k";
    EXPECT_TRUE(Client::open(server.url())->call(options)->has(code));
    EXPECT_EQ(scripted.asked, 1) << code;
  }
  Scripted scripted{.rest = failure_with("LOCK_TIMEOUT")};
  const FrameServer server(scripted.script());
  EXPECT_TRUE(Client::open(server.url())->call({.function = "f"})->has("LOCK_TIMEOUT"));
  EXPECT_EQ(scripted.asked, 1);
}

TEST(ForrstBackoff, the_servers_word_is_a_minimum_and_more_than_the_most_is_an_end) {
  constexpr auto details = R"({"retry_after":{"value":150,"unit":"millisecond"}})";
  Scripted scripted{.rest = failure_with("IDEMPOTENCY_PROCESSING", details)};
  const FrameServer server(scripted.script());
  const auto client = Client::open(server.url());
  const auto began = steady_clock::now();
  EXPECT_TRUE(client->call(call_with({.first = 1ms, .most = 1s}))->ok());
  EXPECT_GE(steady_clock::now() - began, 150ms);
  scripted.asked = 0;
  const auto reply = client->call(call_with({.first = 1ms, .most = 100ms}));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_TRUE(reply->has("IDEMPOTENCY_PROCESSING"));
  EXPECT_EQ(scripted.asked, 1);
}

TEST(ForrstBackoff, a_stop_ends_the_sleep_between_two_attempts) {
  Scripted scripted{.rest = failure_with("LOCK_TIMEOUT"), .failures = 100};
  const FrameServer server(scripted.script());
  const auto client = Client::open(server.url());
  std::stop_source stop;
  auto calling = std::async(std::launch::async, [&] {
    return client->call(call_with({.first = 1h, .most = 1h}), stop.get_token());
  });
  ASSERT_TRUE(test::eventually([&] { return scripted.asked > 0; }));
  stop.request_stop();
  const auto reply = calling.get();
  ASSERT_FALSE(reply);
  // The stop may also meet the answer on its way.
  EXPECT_TRUE(reply.error().code == Errc::cancelled || reply.error().code == Errc::outcome_unknown);
  EXPECT_EQ(scripted.asked, 1);
}

TEST(ForrstBackoff, a_server_that_comes_up_late_is_found_if_a_key_makes_that_safe) {
  const test::TemporaryFolder folder;
  const auto path = (folder.path() / "late").string();
  const auto client = Client::open("unix:" + path);
  auto options = call_with({.attempts = 1'000'000, .first = 5ms, .most = 5ms});
  EXPECT_EQ(client->call(options).error().code, Errc::unavailable);
  options.idempotency_key = "k";
  // Until the server has come up after the first attempt.
  EXPECT_TRUE(test::eventually([&] {
    std::filesystem::remove(path);
    auto calling = std::async(std::launch::async, [&] { return client->call(options); });
    const FrameServer server(test::always(R"("result":1)"), path);
    const auto reply = calling.get();
    EXPECT_TRUE(reply) << reply.error().message;
    return !reply || reply->attempts > 1;
  }));
}

TEST(ForrstBackoff, a_deadline_counts_from_the_first_attempt) {
  Scripted scripted{.rest = failure_with("LOCK_TIMEOUT"), .failures = 1'000'000};
  const FrameServer server(scripted.script());
  auto options =
      call_with({.attempts = 1'000'000, .first = 10ms, .factor = 1, .most = 10ms, .jitter = 0});
  const auto deadline = test::stretched(200ms);
  options.deadline = deadline;
  const auto reply = Client::open(server.url())->call(options);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_TRUE(reply->has("LOCK_TIMEOUT"));
  std::int64_t last = deadline / 1ms + 1;
  for (const auto& each : scripted.requests) {
    const auto& left = each.at("extensions").at(0).at("options");
    EXPECT_LT(left.at("value").as_int64(), last);
    last = left.at("value").as_int64();
  }
  EXPECT_LE(scripted.asked, deadline / 10ms);
}

}  // namespace
}  // namespace holdfast::forrst
