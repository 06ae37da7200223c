// SPDX-License-Identifier: Apache-2.0
//
// What a caller is told, and how often the work runs.
#include "recipes/run_fixture.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Idempotent : public RunTest {
 protected:
  Result<Once> once(IdempotencyOptions options = {}) {
    return client.idempotent("payment-1", options, [this](const holdfast::Run&) -> std::string {
      return "answer " + std::to_string(++ran);
    });
  }
  int ran = 0;
};

TEST_F(Idempotent, runs_once_and_is_replayed_byte_for_byte) {
  const auto first = value_of(once());
  EXPECT_EQ(first.ending, Ending::ran);
  EXPECT_GT(first.fence, 0U);
  for (int again = 0; again < 3; ++again) {
    const auto next = value_of(once());
    EXPECT_EQ(next.ending, Ending::replayed);
    EXPECT_EQ(next.answer.body, "answer 1");
    EXPECT_EQ(next.answer.status, 200);
    EXPECT_EQ(next.fence, first.fence);
  }
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(line->count(Verb::run_begin), 4U) << "a replay is one question";
  EXPECT_EQ(line->count(Verb::run_complete), 1U);
  advance(24h);
  EXPECT_EQ(value_of(once()).ending, Ending::ran) << "its time is over";
}

TEST_F(Idempotent, the_work_returns_what_suits_it) {
  const Answer given{
      .status = 201, .headers = R"({"Location":"/1"})", .body = std::string("\0\xff", 2)};
  const auto replay_of = [&](std::string_view key, auto work) {
    EXPECT_EQ(value_of(client.idempotent(key, {}, work)).ending, Ending::ran);
    return value_of(client.idempotent(key, {}, work)).answer;
  };
  EXPECT_EQ(replay_of("1", [&](const holdfast::Run&) { return given; }), given);
  EXPECT_EQ(replay_of("2", [&](const holdfast::Run&) { return Result<Answer>(given); }), given);
  EXPECT_EQ(replay_of("3", [](const holdfast::Run&) {}), Answer{});
  EXPECT_EQ(replay_of("4", [](const holdfast::Run&) { return Result<void>(); }), Answer{});
  EXPECT_EQ(replay_of("5", [](const holdfast::Run&) { return Result<std::string>("x"); }).body,
            "x");
}

TEST_F(Idempotent, an_error_is_a_failure_that_others_are_told_for_a_while) {
  const auto failing = [](const holdfast::Run&) -> Result<void> {
    return fail(Errc::busy, "no money");
  };
  const auto failed = client.idempotent("payment-1", {.keep_failure = 5s}, failing);
  EXPECT_EQ(error_of(failed), Errc::busy) << "the error of the work, not one of the lock";
  EXPECT_EQ(failed.error().message, "no money");
  const auto told = value_of(once());
  EXPECT_EQ(told.ending, Ending::failed_before);
  EXPECT_EQ(told.failure, "no money");
  EXPECT_EQ(ran, 0);
  advance(5s);
  EXPECT_EQ(value_of(once()).ending, Ending::ran);
}

TEST_F(Idempotent, a_failure_that_is_not_kept_lets_the_next_one_try) {
  const auto failing = [](const holdfast::Run&) -> Result<void> {
    return fail(Errc::busy, "no money");
  };
  EXPECT_FALSE(client.idempotent("payment-1", {.keep_failure = 0s}, failing));
  EXPECT_EQ(value_of(once()).ending, Ending::ran);
}

TEST_F(Idempotent, an_exception_is_a_failure_with_its_words_and_goes_on) {
  const auto throwing = [](const holdfast::Run&) -> std::string {
    throw std::runtime_error("no bank");
  };
  EXPECT_THROW(static_cast<void>(client.idempotent("payment-1", {}, throwing)), std::runtime_error);
  EXPECT_EQ(value_of(once()).failure, "no bank");
  EXPECT_THROW(
      static_cast<void>(client.idempotent("payment-2", {}, [](const holdfast::Run&) { throw 7; })),
      int);
  EXPECT_EQ(other_asks({}, "payment-2").failure, "an exception without words");
}

TEST_F(Idempotent, words_that_are_too_long_or_no_text_are_cut) {
  const std::string words = std::string(max_failure_bytes - 1, 'x') + "\u20ac and more";
  EXPECT_TRUE(begin().fail(words));
  EXPECT_EQ(other_asks().failure, std::string(max_failure_bytes - 1, 'x'));
  EXPECT_TRUE(begin({}, "payment-2").fail("a\xff z"));
  EXPECT_EQ(other_asks({}, "payment-2").failure, "a? z");
}

TEST_F(Idempotent, what_may_have_happened_is_not_called_a_failure) {
  const auto unknown = [](const holdfast::Run&) -> Result<void> {
    return fail(Errc::outcome_unknown, "the bank did not answer");
  };
  EXPECT_EQ(error_of(client.idempotent("payment-1", {}, unknown)), Errc::outcome_unknown);
  EXPECT_EQ(other_asks({.take_over = TakeOver::refuse}).ending, Ending::unknown);
  EXPECT_EQ(other_asks().answer.body, "taken over") << "whoever may take over is told";
}

TEST_F(Idempotent, another_fingerprint_is_a_mismatch_and_runs_nothing) {
  EXPECT_EQ(value_of(once({.fingerprint = "100"})).ending, Ending::ran);
  EXPECT_EQ(value_of(once({.fingerprint = "999"})).ending, Ending::mismatch);
  EXPECT_EQ(value_of(once({.fingerprint = "100"})).ending, Ending::replayed);
  EXPECT_EQ(value_of(once()).ending, Ending::replayed) << "no fingerprint agrees with any";
  EXPECT_EQ(ran, 1);
}

TEST_F(Idempotent, of_many_threads_one_runs_and_all_get_its_answer) {
  const auto real = value_of(open("memory:"));
  std::atomic<int> runs = 0;
  std::atomic<int> answered = 0;
  {
    std::latch go(8);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&] {
        go.arrive_and_wait();
        const auto told =
            real.idempotent("k", {.wait = 60s}, [&](const holdfast::Run&) -> std::string {
              std::this_thread::yield();
              return std::to_string(++runs);
            });
        if (told && told->answer.body == "1") ++answered;
      });
    }
  }
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(answered, 8);
}

TEST_F(Idempotent, looking_begins_nothing_and_forgetting_lets_it_run_again) {
  EXPECT_EQ(value_of(client.look_at_run("payment-1")), std::nullopt);
  EXPECT_FALSE(value_of(client.forget_run("payment-1")));
  EXPECT_EQ(value_of(once()).ending, Ending::ran);
  EXPECT_EQ(value_of(client.look_at_run("payment-1"))->answer.body, "answer 1");
  EXPECT_TRUE(value_of(client.forget_run("payment-1")));
  EXPECT_EQ(value_of(once()).ending, Ending::ran);
  EXPECT_EQ(ran, 2);
}

TEST_F(Idempotent, whoever_runs_what_is_forgotten_has_lost_it) {
  auto run = begin();
  EXPECT_TRUE(value_of(other.forget_run("payment-1")));
  EXPECT_EQ(other_asks().answer.body, "fresh");
  EXPECT_EQ(error_of(run.complete({.body = "too late"})), Errc::lost);
  EXPECT_EQ(other_asks().answer.body, "fresh");
}

TEST_F(Idempotent, an_answer_over_the_limit_is_not_kept_and_the_work_is_not_repeated) {
  const std::string large(max_answer_bytes + 1, 'x');
  const auto refused = client.idempotent(
      "payment-1", {}, [&](const holdfast::Run&) -> std::string { return large; });
  EXPECT_EQ(error_of(refused), Errc::bad_input);
  EXPECT_THAT(refused.error().message,
              StartsWith("it ran, but its answer was not kept: result: must be at most 262144"));
  const auto told = other_asks();
  EXPECT_EQ(told.ending, Ending::replayed) << "it has happened, and must not happen again";
  EXPECT_THAT(told.answer.body, HasSubstr("answer_not_kept"));

  auto run = begin({}, "payment-2");
  EXPECT_EQ(error_of(run.complete({.body = large})), Errc::bad_input);
  EXPECT_EQ(error_of(run.complete({.status = 42})), Errc::bad_input);
  EXPECT_TRUE(run.valid()) << "what is refused for its form does not end the run";
  EXPECT_TRUE(run.complete({.body = large.substr(1)}));
}

struct BadInput {
  std::string key = "k";
  IdempotencyOptions options{};
  std::string_view says;
};

TEST_F(Idempotent, bad_input_names_the_field_and_the_rule_and_leaves_nothing) {
  const std::string long_key(max_run_key_bytes + 1, 'k');
  const std::string long_fingerprint(max_fingerprint_bytes + 1, 'f');
  const std::vector<BadInput> cases{
      {"", {}, "key"},
      {long_key, {}, "key: must be at most 400 bytes long; got 401"},
      {"a\nb", {}, "key"},
      {"\xff", {}, "key"},
      {"k", {.fingerprint = long_fingerprint}, "fingerprint: must be at most 256 bytes"},
      {"k", {.fingerprint = "\xff"}, "fingerprint: must be valid UTF-8"},
      {"k", {.ttl = 0s}, "ttl: must be 1000 to 2678400000 ms"},
      {"k", {.ttl = -1s}, "ttl"},
      {"k", {.ttl = 32 * 24h}, "ttl"},
      {"k", {.wait = -1s}, "wait"},
      {"k", {.wait = 25h}, "wait"},
      {"k", {.guard = 0s}, "guard: must be 100 to 86400000 ms"},
      {"k", {.guard = 25h}, "guard"},
      {"k", {.keep_failure = -1s}, "keep_failure: must be 0 to"},
  };
  for (const auto& each : cases) {
    bool ran_it = false;
    const auto refused =
        client.idempotent(each.key, each.options, [&](const holdfast::Run&) { ran_it = true; });
    EXPECT_EQ(error_of(refused), Errc::bad_input) << each.says;
    EXPECT_THAT(refused.error().message, StartsWith(each.says));
    EXPECT_FALSE(ran_it);
  }
  EXPECT_EQ(line->history().size(), 0U) << "nothing of it reached the store";
}

}  // namespace
}  // namespace holdfast::test
