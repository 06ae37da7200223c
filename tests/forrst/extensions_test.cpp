// SPDX-License-Identifier: Apache-2.0
//
// Deadlines, rate limits, advice on retries, and extensions together.
#include "forrst/host.hpp"
#include "forrst/service_fixture.hpp"

#include <thread>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using forrst::Invocation;
using forrst::Outcome;

constexpr std::string_view deadline_urn = "urn:cline:forrst:ext:deadline";
constexpr std::string_view limit_urn = "urn:cline:forrst:ext:rate-limit";
constexpr std::string_view retry_urn = "urn:cline:forrst:ext:retry";

class Extensions : public ForrstService {};

TEST_F(Extensions, a_deadline_reaches_the_function_and_the_answer_tells_what_is_left) {
  charge = [](const Invocation& call) -> Outcome {
    const auto left = call.deadline - std::chrono::steady_clock::now();
    EXPECT_LE(left, 25s);
    EXPECT_GT(left, 5s);
    return nullptr;
  };
  const auto told = ask(Question{}.with(deadline_urn, span(25)));
  const auto* data = told.data(deadline_urn);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data->at("specified"), json::value(span(25)));
  EXPECT_LE(data->at("remaining").at("value").as_int64(), 25'000);
  EXPECT_LT(data->at("utilization").to_number<double>(), 1.0);
}

TEST_F(Extensions, every_form_of_a_deadline_is_read) {
  for (const auto* options : {R"({"value": 90000, "unit": "millisecond"})",
                              R"({"timeout": {"value": 5, "unit": "minute"}})",
                              R"({"value": "2999-01-01T00:00:00Z", "unit": "iso8601"})",
                              R"({"deadline": "2999-01-01T01:00:00+01:00"})"}) {
    const auto told = ask(Question{}.with(deadline_urn, json::parse(options).as_object()));
    EXPECT_TRUE(told.is_good()) << options << told.raw;
  }
}

TEST_F(Extensions, a_deadline_that_has_passed_does_nothing) {
  const auto told = ask(Question{}
                            .with(deadline_urn, {{"deadline", "2001-01-01T00:00:00Z"}})
                            .locked({{"key", "user:1"}, {"ttl", span(5)}}));
  EXPECT_EQ(told.status, 504);
  EXPECT_EQ(told.code(), "DEADLINE_EXCEEDED");
  EXPECT_EQ(charges, 0);
  EXPECT_FALSE(is_locked("lock:payments.charge:user:1"));
}

TEST_F(Extensions, a_deadline_cuts_the_wait_for_a_lock) {
  const Lease theirs = hold("lock:payments.charge:user:1");
  const auto began = std::chrono::steady_clock::now();
  const auto told =
      ask(Question{}
              .with(deadline_urn, span(200, "millisecond"))
              .locked({{"key", "user:1"}, {"ttl", span(5)}, {"block", span(1, "hour")}}));
  EXPECT_EQ(told.code(), "DEADLINE_EXCEEDED");
  EXPECT_GE(std::chrono::steady_clock::now() - began, 200ms);
  EXPECT_TRUE(client.inspect("lock:payments.charge:user:1")->waiters.empty());
  EXPECT_EQ(charges, 0);
}

TEST_F(Extensions, a_function_is_told_to_stop_when_its_time_is_over) {
  add({.name = "slow.work",
       .handler = [](const Invocation& call) -> Outcome {
         wait_for_stop(call.stop);
         return std::unexpected(forrst::Fault{.code = "DEADLINE_EXCEEDED", .message = "stopped"});
       },
       .timeout = 50ms});
  Question question{.function = "slow.work"};
  question.locked({{"key", "user:1"}, {"ttl", span(5)}});
  EXPECT_EQ(ask(question).code(), "DEADLINE_EXCEEDED");
  EXPECT_FALSE(is_locked("lock:slow.work:user:1"));
}

TEST_F(Extensions, limits_hold_whether_they_are_asked_for_or_not) {
  add({.name = "limited.work",
       .handler = [](const Invocation&) -> Outcome { return nullptr; },
       .rate_limit = RateRule{.limit = 2, .window = 1h}});
  Question question{.function = "limited.work"};
  EXPECT_TRUE(ask(question).is_good());
  const auto second = ask(question);
  EXPECT_EQ(second.header("RateLimit-Limit"), "2");
  EXPECT_EQ(second.header("RateLimit-Remaining"), "0");
  EXPECT_EQ(second.body.at("meta").at("rate_limit").at("remaining"), 0);
  const auto third = ask(question);
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(third.code(), "RATE_LIMITED");
  EXPECT_FALSE(third.header("Retry-After").empty());
  const auto& details = third.error().at("details").as_object();
  EXPECT_EQ(details.at("limit"), 2);
  EXPECT_EQ(details.at("scope"), "function");
  EXPECT_EQ(details.at("function"), "limited.work");
  EXPECT_EQ(details.at("window"), json::value(span(1, "hour")));
}

TEST_F(Extensions, the_limits_are_told_to_whoever_asks) {
  serve({.rate_limit = RateRule{.limit = 20, .window = 60s}});
  add({.name = "limited.work",
       .handler = [](const Invocation&) -> Outcome { return nullptr; },
       .rate_limit = RateRule{.limit = 2, .window = 1h}});
  const auto asked = [&](json::object options) {
    Question question{.function = "limited.work"};
    return *ask(question.with(limit_urn, std::move(options))).data(limit_urn);
  };
  const auto all = asked({});
  EXPECT_EQ(all.at("scopes").at("function").at("used"), 1);
  EXPECT_EQ(all.at("scopes").at("service").at("limit"), 20);
  const auto function = asked({{"scope", "function"}});
  EXPECT_EQ(function.at("remaining"), 0);
  EXPECT_EQ(function.at("warning"), "Rate limit nearly exhausted");
  EXPECT_EQ(asked({{"scope", "user"}}).at("unlimited"), true);
  EXPECT_EQ(asked({{"scope", "global"}}).at("scope"), "global");
}

TEST_F(Extensions, what_keeps_locks_in_order_is_never_limited) {
  serve({.rate_limit = RateRule{.limit = 1, .window = 1h}});
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(lock_call("status", {{"key", "lock:x"}}).is_good());
  }
}

TEST_F(Extensions, advice_on_retries) {
  struct Case {
    const char* code;
    const char* advice;
  };
  for (const auto& each : {Case{"UNAVAILABLE", R"({"allowed": true, "strategy": "exponential",
              "after": {"value": 1, "unit": "second"}, "max_attempts": 5})"},
                           Case{"DEADLINE_EXCEEDED",
                                R"({"allowed": true, "strategy": "immediate", "max_attempts": 1})"},
                           Case{"DEPENDENCY_ERROR", R"({"allowed": true, "strategy": "exponential",
              "after": {"value": 2, "unit": "second"}, "max_attempts": 3})"},
                           Case{"FUNCTION_DISABLED", R"({"allowed": true, "strategy": "fixed",
              "after": {"value": 30, "unit": "second"}, "max_attempts": 2})"},
                           Case{"CARD_DECLINED", R"({"allowed": false})"}}) {
    charge = [&](const Invocation&) -> Outcome {
      return std::unexpected(forrst::Fault{.code = each.code, .message = "no"});
    };
    const auto told = ask(Question{}.with(retry_urn, {}));
    ASSERT_NE(told.data(retry_urn), nullptr) << told.raw;
    EXPECT_EQ(json::value(*told.data(retry_urn)), json::parse(each.advice)) << each.code;
  }
  EXPECT_EQ(ask(Question{.function = "payments.charge", .arguments = {}}.with(retry_urn, {}))
                .data(retry_urn)
                ->at("allowed"),
            false);
}

TEST_F(Extensions, a_lock_that_is_held_may_be_tried_again) {
  const Lease theirs = hold("lock:payments.charge:user:1");
  const auto told =
      ask(Question{}.locked({{"key", "user:1"}, {"ttl", span(5)}}).with(retry_urn, {}));
  EXPECT_EQ(json::value(*told.data(retry_urn)), json::parse(R"({
    "allowed": true, "strategy": "exponential",
    "after": {"value": 1, "unit": "second"}, "max_attempts": 3})"));
}

// Forrst's own server hands each extension the options of the others.
TEST_F(Extensions, all_of_them_work_together_in_any_order) {
  const auto add_all = [](Question& question, bool is_backwards) {
    std::vector<std::pair<std::string_view, json::object>> all{
        {lock_urn, {{"key", "user:1"}, {"ttl", span(5)}}},
        {once_urn, {{"key", is_backwards ? "b" : "a"}}},
        {deadline_urn, span(30)},
        {limit_urn, {}},
        {retry_urn, {}}};
    if (is_backwards) std::ranges::reverse(all);
    for (auto& [urn, options] : all) question.with(urn, std::move(options));
  };
  for (const bool is_backwards : {false, true}) {
    Question question;
    add_all(question, is_backwards);
    const auto told = ask(question);
    ASSERT_TRUE(told.is_good()) << told.raw;
    for (const auto urn : {lock_urn, once_urn, deadline_urn, limit_urn}) {
      EXPECT_NE(told.data(urn), nullptr) << urn;
    }
    EXPECT_FALSE(is_locked("lock:payments.charge:user:1"));
  }
  EXPECT_EQ(charges, 2);
}

TEST_F(Extensions, one_that_we_do_not_know_is_ignored_unless_we_are_strict) {
  Question question;
  question.with("urn:acme:forrst:ext:teleport", {{"to", "mars"}});
  const auto told = ask(question);
  EXPECT_TRUE(told.is_good());
  EXPECT_FALSE(told.body.contains("extensions"));
  serve({.is_strict = true});
  const auto refused = ask(question);
  EXPECT_EQ(refused.code(), "EXTENSION_NOT_SUPPORTED");
  EXPECT_EQ(refused.message(), "Extension not supported: urn:acme:forrst:ext:teleport");
  EXPECT_EQ(refused.pointer(), "/extensions/0");
  EXPECT_TRUE(refused.error().at("details").as_object().contains("supported"));
}

TEST_F(Extensions, a_function_may_refuse_one) {
  add({.name = "open.work",
       .handler = [](const Invocation&) -> Outcome { return nullptr; },
       .excluded_extensions = {"atomic-lock"}});
  Question question{.function = "open.work"};
  const auto told = ask(question.with(retry_urn, {}).locked({{"key", "a"}, {"ttl", span(1)}}));
  EXPECT_EQ(told.status, 400);
  EXPECT_EQ(told.code(), "EXTENSION_NOT_APPLICABLE");
  EXPECT_EQ(told.pointer(), "/extensions/1");
  EXPECT_EQ(told.error().at("details"),
            json::value({{"extension", lock_urn}, {"function", "open.work"}}));
}

TEST_F(Extensions, one_that_is_requested_twice_is_refused) {
  const auto told =
      ask(Question{}
              .locked({{"key", "a"}, {"ttl", span(1)}})
              .with("urn:cline:forrst:ext:atomic-lock", {{"key", "b"}, {"ttl", span(1)}}));
  EXPECT_EQ(told.code(), "INVALID_REQUEST");
  EXPECT_EQ(told.pointer(), "/extensions/1");
  EXPECT_EQ(charges, 0);
}

}  // namespace
}  // namespace holdfast::test
