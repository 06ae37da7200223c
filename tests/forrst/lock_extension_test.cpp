// SPDX-License-Identifier: Apache-2.0
#include "forrst/host.hpp"
#include "forrst/service_fixture.hpp"

#include <chrono>
#include <future>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using forrst::Invocation;
using forrst::Outcome;

constexpr std::string_view user_lock = "lock:payments.charge:user:1";

class LockExtension : public ForrstService {
 protected:
  std::string owner_of(const Told& told) const {
    const auto* data = told.data(lock_urn);
    return data != nullptr ? std::string(data->at("owner").as_string()) : std::string();
  }
};

TEST_F(LockExtension, each_spelling_of_the_urn_is_echoed) {
  for (const auto* urn : {"urn:forrst:ext:atomicLock", "urn:forrst:ext:atomic-lock",
                          "urn:cline:forrst:ext:atomic-lock"}) {
    Question question;
    question.with(urn, {{"key", "user:1"}, {"ttl", span(30)}});
    const auto told = ask(question);
    ASSERT_NE(told.data(urn), nullptr) << told.raw;
    EXPECT_EQ(told.data(urn)->at("acquired"), true);
  }
}

TEST_F(LockExtension, units_of_time_are_words_for_one_of_them) {
  struct Unit {
    const char* word;
    std::int64_t count;
    std::chrono::seconds time;
  };
  for (const auto& [word, count, time] :
       {Unit{"second", 5, 5s}, Unit{"minute", 1, 1min}, Unit{"hour", 1, 1h}, Unit{"day", 1, 24h}}) {
    ASSERT_TRUE(ask(charge_user({{"ttl", span(count, word)}, {"auto_release", false}})).is_good());
    const auto left = client.inspect(user_lock)->holders.at(0).remaining;
    EXPECT_GT(left, time - 5s) << word;
    EXPECT_LE(left, time) << word;
    ASSERT_TRUE(client.force_release(user_lock, "next"));
  }
}

TEST_F(LockExtension, the_lock_is_released_after_an_error) {
  charge = [](const Invocation&) -> Outcome {
    return std::unexpected(forrst::Fault{.code = "CARD_DECLINED", .message = "no money"});
  };
  const auto told = ask(charge_user());
  EXPECT_EQ(told.status, 400);
  EXPECT_EQ(told.code(), "CARD_DECLINED");
  EXPECT_EQ(told.data(lock_urn)->at("acquired"), true);
  EXPECT_FALSE(is_locked(user_lock));
}

TEST_F(LockExtension, the_lock_is_released_after_an_exception_whose_words_stay_inside) {
  charge = [](const Invocation&) -> Outcome { throw std::runtime_error("password=hunter2"); };
  const auto told = ask(charge_user());
  EXPECT_EQ(told.status, 500);
  EXPECT_EQ(told.code(), "INTERNAL_ERROR");
  EXPECT_EQ(told.raw.find("hunter2"), std::string::npos);
  EXPECT_FALSE(is_locked(user_lock));
}

TEST_F(LockExtension, a_lock_that_is_released_by_hand_stays_after_an_error_and_the_owner_is_told) {
  charge = [](const Invocation&) -> Outcome {
    return std::unexpected(forrst::Fault{.code = "CARD_DECLINED", .message = "no money"});
  };
  const auto told = ask(charge_user({{"auto_release", false}}));
  EXPECT_TRUE(is_locked(user_lock));
  EXPECT_TRUE(lock_call("release", {{"key", user_lock}, {"owner", owner_of(told)}}).is_good());
}

TEST_F(LockExtension, an_answer_that_cannot_be_delivered_gives_the_lock_back) {
  auto reply = service->handle(charge_user({{"auto_release", false}}).text());
  ASSERT_TRUE(is_locked(user_lock));
  ASSERT_TRUE(reply.undelivered);
  reply.undelivered();
  EXPECT_TRUE(eventually([&] { return !is_locked(user_lock); }));
}

TEST_F(LockExtension, fences_grow_and_reach_the_function) {
  std::vector<Fence> fences;
  charge = [&](const Invocation& call) -> Outcome {
    fences.push_back(call.lock->fence);
    return nullptr;
  };
  for (int round = 0; round < 3; ++round) {
    const auto told = ask(charge_user());
    EXPECT_EQ(told.data(lock_urn)->at("fence").to_number<Fence>(), fences.back());
  }
  EXPECT_LT(fences[0], fences[1]);
  EXPECT_LT(fences[1], fences[2]);
}

TEST_F(LockExtension, a_global_lock_is_shared_by_functions) {
  ASSERT_TRUE(ask(charge_user({{"scope", "global"}, {"auto_release", false}})).is_good());
  Question other{.function = "billing.generateReport", .arguments = {}};
  other.locked({{"key", "user:1"}, {"ttl", span(30)}, {"scope", "global"}});
  EXPECT_EQ(ask(other).code(), "LOCK_ACQUISITION_FAILED");
  Question own{.function = "billing.generateReport", .arguments = {}};
  own.locked({{"key", "user:1"}, {"ttl", span(30)}});
  EXPECT_TRUE(ask(own).is_good());
}

TEST_F(LockExtension, a_waiter_gets_the_lock_when_it_comes_free) {
  auto theirs = std::make_unique<Lease>(hold(user_lock));
  auto asked =
      std::async(std::launch::async, [&] { return ask(charge_user({{"block", span(60)}})); });
  ASSERT_TRUE(has_waiter(user_lock));
  const auto released_at = std::chrono::steady_clock::now();
  ASSERT_TRUE(theirs->release());
  const auto told = asked.get();
  EXPECT_TRUE(told.is_good()) << told.raw;
  // By a message of the queue: whoever asks every 250 ms needs 125 ms on average.
  EXPECT_LT(std::chrono::steady_clock::now() - released_at, at_most(10s));
}

TEST_F(LockExtension, of_many_at_once_one_runs_at_a_time) {
  int inside = 0;
  int most = 0;
  std::mutex mutex;
  charge = [&](const Invocation&) -> Outcome {
    {
      const std::lock_guard lock(mutex);
      most = std::max(most, ++inside);
    }
    std::this_thread::yield();
    const std::lock_guard lock(mutex);
    --inside;
    return nullptr;
  };
  std::vector<std::jthread> callers;
  std::atomic<int> good{0};
  for (int each = 0; each < 16; ++each) {
    callers.emplace_back([&] {
      if (ask(charge_user({{"block", span(1, "minute")}})).is_good()) ++good;
    });
  }
  callers.clear();
  EXPECT_EQ(good, 16);
  EXPECT_EQ(most, 1);
  EXPECT_FALSE(is_locked(user_lock));
}

TEST_F(LockExtension, a_caller_who_leaves_while_waiting_leaves_nothing) {
  const Lease theirs = hold(user_lock);
  std::stop_source left;
  auto asked = std::async(std::launch::async, [&] {
    return ask(charge_user({{"block", span(1, "hour")}}), {}, left.get_token());
  });
  ASSERT_TRUE(has_waiter(user_lock));
  left.request_stop();
  EXPECT_EQ(asked.get().code(), "CANCELLED");
  EXPECT_TRUE(client.inspect(user_lock)->waiters.empty());
  EXPECT_EQ(charges, 0);
}

TEST_F(LockExtension, a_caller_who_leaves_while_the_function_runs_ends_it_and_the_lock) {
  std::stop_source left;
  charge = [&](const Invocation& call) -> Outcome {
    left.request_stop();
    wait_for_stop(call.stop);
    return std::unexpected(forrst::Fault{.code = "CANCELLED", .message = "the caller left"});
  };
  ask(charge_user({{"auto_release", false}}), {}, left.get_token());
  EXPECT_FALSE(is_locked(user_lock));
}

TEST_F(LockExtension, a_function_that_outlives_the_ttl_keeps_its_lock) {
  const auto ttl = std::chrono::ceil<std::chrono::seconds>(test::stretched(1s));
  std::string contender;
  charge = [&](const Invocation& call) -> Outcome {
    if (contender.empty()) {
      EXPECT_TRUE(
          eventually([&] { return client.inspect(user_lock)->holders.at(0).held_for > ttl; }));
      contender = "asked";
      contender = ask(charge_user()).code();
    }
    return json::value(call.lock->owner);
  };
  EXPECT_TRUE(ask(charge_user({{"ttl", span(ttl.count())}})).is_good());
  EXPECT_EQ(contender, "LOCK_ACQUISITION_FAILED");
}

TEST_F(LockExtension, a_lock_that_was_taken_away_is_told_to_the_function_and_to_the_caller) {
  charge = [&](const Invocation& call) -> Outcome {
    EXPECT_TRUE(client.force_release(user_lock, "test"));
    // The next renewal tells.
    wait_for_stop(call.stop);
    return json::value("done anyway");
  };
  const auto told = ask(charge_user({{"ttl", span(1)}}));
  EXPECT_EQ(told.status, 409);
  EXPECT_EQ(told.code(), "CONFLICT");
  EXPECT_EQ(told.error().at("details").at("full_key").as_string(), user_lock);
}

TEST_F(LockExtension, the_prefix_can_be_another) {
  serve({.prefix = "forrst_lock:"});
  ASSERT_TRUE(ask(charge_user({{"auto_release", false}, {"owner", "ben"}})).is_good());
  EXPECT_TRUE(is_locked("forrst_lock:payments.charge:user:1"));
  EXPECT_TRUE(
      lock_call("release", {{"key", "forrst_lock:payments.charge:user:1"}, {"owner", "ben"}})
          .is_good());
}

TEST_F(LockExtension, bad_prefixes_are_refused) {
  for (const auto* prefix : {"", "lock", "lo ck:", "a:meta:", "\xff:"}) {
    const auto made = forrst::Service::make(client, {.prefix = prefix});
    ASSERT_FALSE(made) << prefix;
    EXPECT_TRUE(made.error().message.starts_with("prefix: ")) << made.error().message;
  }
}

TEST_F(LockExtension, a_caller_without_the_right_to_the_name_gets_nothing) {
  const forrst::Caller caller{.is_known = true,
                              .may = [](forrst::Caller::Right, std::string_view name) {
                                return name.empty() || name.starts_with("lock:mine:");
                              }};
  const auto told = ask(charge_user(), caller);
  EXPECT_EQ(told.status, 403);
  EXPECT_EQ(told.code(), "FORBIDDEN");
  EXPECT_EQ(charges, 0);
  EXPECT_FALSE(is_locked(user_lock));
}

TEST_F(LockExtension, a_wait_is_told_as_it_was_asked_for) {
  const Lease theirs = hold(user_lock);
  for (const auto* block : {R"({"value": 1.0, "unit": "second"})", R"({"value": "1"})"}) {
    const auto told = ask(charge_user({{"block", json::parse(block)}}));
    EXPECT_EQ(told.message(), "Lock acquisition timed out after 1 seconds");
    EXPECT_EQ(told.error().at("details").at("waited"), json::parse(block));
  }
}

TEST_F(LockExtension, a_call_that_waits_for_a_thread_is_not_run_after_its_deadline) {
  serve({.threads = 1});
  std::latch inside{1};
  std::latch go_on{1};
  charge = [&](const Invocation&) -> Outcome {
    inside.count_down();
    go_on.wait();
    return nullptr;
  };
  auto first = std::async(std::launch::async, [&] { return ask({}); });
  inside.wait();
  const auto told =
      ask(charge_user().with("urn:cline:forrst:ext:deadline", span(50, "millisecond")));
  EXPECT_EQ(told.code(), "DEADLINE_EXCEEDED");
  EXPECT_FALSE(is_locked(user_lock));
  go_on.count_down();
  EXPECT_TRUE(first.get().is_good());
  EXPECT_EQ(charges, 1);
}

TEST_F(LockExtension, an_answer_beyond_the_limit_is_an_error_and_the_lock_is_released) {
  charge = [](const Invocation&) -> Outcome {
    return json::value(std::string(forrst::max_result_bytes, 'x'));
  };
  EXPECT_EQ(ask(charge_user()).code(), "INTERNAL_ERROR");
  EXPECT_FALSE(is_locked(user_lock));
}

TEST_F(LockExtension, what_another_service_says_of_its_locks_is_no_word_about_ours) {
  for (const auto* code : {"LOCK_TIMEOUT", "IDEMPOTENCY_PROCESSING"}) {
    charge = [&](const Invocation&) -> Outcome {
      return std::unexpected(forrst::Fault{.code = code, .message = "theirs"});
    };
    const auto told = ask(charge_user());
    EXPECT_EQ(told.code(), "DEPENDENCY_ERROR");
    EXPECT_EQ(told.error().at("details").at("code"), code);
  }
}

TEST_F(LockExtension, a_caller_may_call_what_it_may_lock_for) {
  const auto may = [](std::string_view prefix) {
    return forrst::Caller{.is_known = true,
                          .may = [prefix](forrst::Caller::Right, std::string_view name) {
                            return name.empty() || name.starts_with(prefix);
                          }};
  };
  EXPECT_TRUE(ask({}, may("lock:payments.")).is_good());
  EXPECT_EQ(ask({}, may("lock:payments.charge:user:")).code(), "FORBIDDEN");
  EXPECT_EQ(ask({}, may("deploy:")).code(), "FORBIDDEN");
  EXPECT_EQ(charges, 1);
}

}  // namespace
}  // namespace holdfast::test
