// SPDX-License-Identifier: Apache-2.0
//
// The idempotency extension.
#include "forrst/host.hpp"
#include "forrst/service_fixture.hpp"

#include <future>
#include <latch>
#include <stdexcept>
#include <thread>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using forrst::Invocation;
using forrst::Outcome;

Question once(std::string_view key, std::string id = "req_001") {
  Question question{.id = std::move(id)};
  question.with(once_urn, {{"key", key}});
  return question;
}

Outcome failing(std::string_view code) {
  return std::unexpected(forrst::Fault{.code = std::string(code), .message = "no"});
}

class OnceExtension : public ForrstService {};

TEST_F(OnceExtension, the_same_key_and_arguments_replay_the_first_answer) {
  const auto first = ask(once("order-1", "first"));
  ASSERT_TRUE(first.is_good());
  EXPECT_EQ(first.data(once_urn)->at("status"), "processed");
  EXPECT_EQ(first.data(once_urn)->at("original_request_id"), "first");
  const auto again = ask(once("order-1", "second"));
  EXPECT_EQ(charges, 1);
  EXPECT_EQ(again.body.at("id"), "second");
  EXPECT_EQ(again.body.at("result"), first.body.at("result"));
  const auto* data = again.data(once_urn);
  EXPECT_EQ(data->at("status"), "cached");
  EXPECT_EQ(data->at("original_request_id"), "first");
  EXPECT_TRUE(data->contains("cached_at"));
  EXPECT_TRUE(data->contains("expires_at"));
  EXPECT_EQ(again.header("Idempotency-Replayed"), "true");
}

TEST_F(OnceExtension, the_order_of_arguments_does_not_matter) {
  ASSERT_TRUE(ask(once("order-1")).is_good());
  auto other = once("order-1");
  other.arguments = {{"amount", 100}, {"user_id", "user_123"}};
  EXPECT_EQ(ask(other).data(once_urn)->at("status"), "cached");
  EXPECT_EQ(charges, 1);
}

TEST_F(OnceExtension, other_arguments_under_the_same_key_conflict) {
  ASSERT_TRUE(ask(once("order-1")).is_good());
  auto other = once("order-1");
  other.arguments["amount"] = 101;
  const auto told = ask(other);
  EXPECT_EQ(told.status, 409);
  EXPECT_EQ(told.code(), "IDEMPOTENCY_CONFLICT");
  EXPECT_EQ(told.message(), "Idempotency key already used with different arguments");
  EXPECT_EQ(told.data(once_urn)->at("status"), "conflict");
  EXPECT_EQ(charges, 1);
}

TEST_F(OnceExtension, a_key_belongs_to_its_function_and_its_caller) {
  ASSERT_TRUE(ask(once("order-1")).is_good());
  auto report = once("order-1");
  report.function = "billing.generateReport";
  EXPECT_EQ(ask(report).data(once_urn)->at("status"), "processed");
  const forrst::Caller somebody{.subject = "ben"};
  EXPECT_EQ(ask(once("order-1"), somebody).data(once_urn)->at("status"), "processed");
  EXPECT_EQ(charges, 2);
}

TEST_F(OnceExtension, whoever_comes_while_it_runs_is_told_so) {
  Told during;
  charge = [&](const Invocation&) -> Outcome {
    during = ask(once("order-1"));
    return json::value(1);
  };
  ASSERT_TRUE(ask(once("order-1")).is_good());
  EXPECT_EQ(during.status, 409);
  EXPECT_EQ(during.code(), "IDEMPOTENCY_PROCESSING");
  EXPECT_EQ(during.error().at("details").at("retry_after"), json::value(span(1)));
  EXPECT_EQ(during.header("Retry-After"), "1");
  EXPECT_EQ(charges, 1);
}

TEST_F(OnceExtension, an_error_that_is_an_answer_is_replayed) {
  charge = [](const Invocation&) { return failing("CARD_DECLINED"); };
  const auto first = ask(once("order-1"));
  const auto again = ask(once("order-1"));
  EXPECT_EQ(again.status, first.status);
  EXPECT_EQ(again.body.at("errors"), first.body.at("errors"));
  EXPECT_EQ(charges, 1);
}

TEST_F(OnceExtension, an_error_that_says_come_again_is_not_kept) {
  charge = [](const Invocation&) { return failing("UNAVAILABLE"); };
  EXPECT_EQ(ask(once("order-1")).code(), "UNAVAILABLE");
  EXPECT_EQ(ask(once("order-1")).code(), "UNAVAILABLE");
  EXPECT_EQ(charges, 2);
}

TEST_F(OnceExtension, what_may_have_happened_is_not_done_again) {
  charge = [](const Invocation&) -> Outcome { throw std::runtime_error("in the middle"); };
  EXPECT_EQ(ask(once("order-1")).code(), "INTERNAL_ERROR");
  const auto told = ask(once("order-1"));
  EXPECT_EQ(told.status, 409);
  EXPECT_EQ(told.code(), "CONFLICT");
  EXPECT_EQ(told.error().at("details").at("state"), "unknown");
  EXPECT_EQ(charges, 1);
}

TEST_F(OnceExtension, a_function_that_looks_first_may_run_again) {
  std::vector<bool> took_over;
  add({.name = "orders.place",
       .handler = [&](const Invocation& call) -> Outcome {
         took_over.push_back(call.took_over);
         if (!call.took_over) throw std::runtime_error("in the middle");
         return json::value("placed");
       },
       .safe_to_repeat = true});
  auto question = once("order-1");
  question.function = "orders.place";
  EXPECT_EQ(ask(question).code(), "INTERNAL_ERROR");
  EXPECT_EQ(ask(question).body.at("result"), "placed");
  EXPECT_EQ(took_over, (std::vector{false, true}));
}

// Forrst's own server guards a run for 30 seconds and then lets another begin. Ours renews the
// guard; that it outlives it is tested where the guard can be short, in tests/recipes.
TEST_F(OnceExtension, whoever_comes_again_and_again_does_not_begin_another_run) {
  std::latch inside{1};
  std::latch go_on{1};
  charge = [&](const Invocation&) -> Outcome {
    inside.count_down();
    go_on.wait();
    return json::value("done");
  };
  auto running = std::async(std::launch::async, [&] { return ask(once("order-1")); });
  inside.wait();
  for (int tries = 0; tries < 20; ++tries) {
    EXPECT_EQ(ask(once("order-1")).code(), "IDEMPOTENCY_PROCESSING");
  }
  go_on.count_down();
  EXPECT_EQ(running.get().body.at("result"), "done");
  EXPECT_EQ(charges, 1);
}

TEST_F(OnceExtension, it_goes_on_when_its_caller_leaves) {
  std::stop_source left;
  charge = [&](const Invocation& call) -> Outcome {
    left.request_stop();
    EXPECT_EQ(ask(once("order-1")).code(), "IDEMPOTENCY_PROCESSING") << "it is still under way";
    EXPECT_FALSE(call.stop.stop_requested());
    return json::value("done");
  };
  ask(once("order-1"), {}, left.get_token());
  EXPECT_EQ(ask(once("order-1")).body.at("result"), "done");
  EXPECT_EQ(charges, 1);
}

TEST_F(OnceExtension, without_its_lock_it_did_not_happen) {
  auto question = once("order-1");
  question.locked({{"key", "user:1"}, {"ttl", span(30)}});
  {
    const Lease theirs = hold("lock:payments.charge:user:1");
    EXPECT_EQ(ask(question).code(), "LOCK_ACQUISITION_FAILED");
  }
  const auto told = ask(question);
  EXPECT_TRUE(told.is_good()) << told.raw;
  EXPECT_EQ(told.data(once_urn)->at("status"), "processed");
  EXPECT_EQ(told.data(lock_urn)->at("acquired"), true);
}

TEST_F(OnceExtension, a_replay_needs_no_lock) {
  auto question = once("order-1");
  question.locked({{"key", "user:1"}, {"ttl", span(30)}});
  ASSERT_TRUE(ask(question).is_good());
  const Lease theirs = hold("lock:payments.charge:user:1");
  const auto told = ask(question);
  EXPECT_TRUE(told.is_good()) << told.raw;
  EXPECT_EQ(told.data(lock_urn), nullptr);
}

TEST_F(OnceExtension, an_answer_too_large_to_keep_has_happened_all_the_same) {
  charge = [](const Invocation&) -> Outcome {
    return json::value(std::string(max_answer_bytes + 1, 'x'));
  };
  EXPECT_TRUE(ask(once("order-1")).is_good());
  EXPECT_EQ(ask(once("order-1")).code(), "CONFLICT");
  EXPECT_EQ(charges, 1);
}

TEST_F(OnceExtension, an_answer_is_kept_as_long_as_it_was_asked_for) {
  Question question;
  question.with(once_urn, {{"key", "order-1"}, {"ttl", span(1)}});
  ASSERT_TRUE(ask(question).is_good());
  EXPECT_TRUE(
      eventually([&] { return ask(question).data(once_urn)->at("status") == "processed"; }));
  EXPECT_EQ(charges, 2);
}

TEST_F(OnceExtension, of_all_who_come_at_once_one_runs) {
  charge = [](const Invocation&) -> Outcome {
    std::this_thread::yield();
    return json::value("done");
  };
  std::vector<std::jthread> callers;
  std::atomic<int> good{0};
  for (int each = 0; each < 12; ++each) {
    callers.emplace_back([&] {
      const auto told = ask(once("order-1"));
      if (told.is_good()) {
        ++good;
      } else {
        EXPECT_EQ(told.code(), "IDEMPOTENCY_PROCESSING");
      }
    });
  }
  callers.clear();
  EXPECT_EQ(charges, 1);
  EXPECT_GE(good, 1);
}

struct Ending final : forrst::Host {
  std::stop_source source;
  std::stop_token ending() override { return source.get_token(); }
};

TEST_F(OnceExtension, a_wait_for_the_lock_ends_with_the_server) {
  const auto host = std::make_shared<Ending>();
  serve({}, host);
  const Lease theirs = hold("lock:payments.charge:user:1");
  auto question = once("order-1");
  question.locked({{"key", "user:1"}, {"ttl", span(30)}, {"block", span(1, "hour")}});
  auto asked = std::async(std::launch::async, [&] { return ask(question); });
  ASSERT_TRUE(has_waiter(charge_key));
  host->source.request_stop();
  EXPECT_EQ(asked.get().code(), "CANCELLED");
  EXPECT_EQ(charges, 0);
}

TEST_F(OnceExtension, is_not_for_what_the_protocol_says_of_itself) {
  Question question{.function = "urn:cline:forrst:ext:atomic-lock:fn:acquire",
                    .arguments = {{"key", "deploy"}, {"ttl", span(60)}}};
  question.with(once_urn, {{"key", "a"}});
  EXPECT_EQ(ask(question).code(), "EXTENSION_NOT_APPLICABLE");
  EXPECT_FALSE(is_locked("lock:deploy"));
}

TEST_F(OnceExtension, a_function_is_told_a_key_that_is_its_callers_own) {
  std::vector<std::string> keys;
  charge = [&](const Invocation& call) -> Outcome {
    keys.push_back(call.idempotency_key);
    return std::unexpected(forrst::Fault{.code = "UNAVAILABLE", .message = "no"});
  };
  ask(once("order-1"), {.subject = "anna"});
  ask(once("order-1"), {.subject = "anna"});
  ask(once("order-1"), {.subject = "ben"});
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_NE(keys[0], keys[2]);
}

}  // namespace
}  // namespace holdfast::test
