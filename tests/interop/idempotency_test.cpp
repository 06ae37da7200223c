// SPDX-License-Identifier: Apache-2.0
//
// Runs that NestJS RedisX and we know of each other's, on one Redis.
#include "backends/redis/options.hpp"
#include "backends/redis/redis_store.hpp"
#include "interop_fixture.hpp"
#include "redisx_runs.hpp"
#include "runtime/spawn.hpp"
#include "support/runs.hpp"

namespace holdfast::test {
namespace {

using model::RunCommand;
using model::RunOutcome;
using testing::ElementsAre;
using Words = std::vector<std::string>;

const Answer paid{.status = 201, .headers = R"({"Location":"/pay/7"})", .body = R"({"id":7})"};

class RedisxIdempotency : public testing::Test {
 protected:
  RedisxIdempotency() {
    raw.call({"FLUSHALL"});
    theirs.lock_timeout = std::chrono::duration_cast<milliseconds>(run_guard);
    backends::redis::Options options;
    options.endpoint.port = shared_server().port();
    store = backends::redis::open_redis_store(std::move(options), runtime).value();
  }

  Result<store::Reply> send(RunCommand command) {
    store::Request request{.name = LockName::make("order:42").value(),
                           .command = std::move(command),
                           .deadline = runtime->now() + 10s};
    return runtime::run_blocking(store->apply(std::move(request)));
  }
  RunOutcome ask(RunCommand command) {
    auto reply = send(std::move(command));
    EXPECT_TRUE(is_ok(reply));
    return reply ? std::get<RunOutcome>(std::move(reply->outcome)) : RunOutcome{};
  }
  // Every word that a run of ann could still say.
  void expect_late_words_change_nothing(RunFound found) {
    const auto before = theirs.fields();
    for (const auto& late : {renew_as("ann"), complete_as("ann", paid, "f"), fail_as("ann", "late"),
                             fail_as("ann", "late", 0us), abandon_as("ann")}) {
      const auto told = ask(late);
      EXPECT_FALSE(told.done);
      EXPECT_EQ(told.found, found) << to_string(told.found);
      EXPECT_EQ(told.fence, 0U);
    }
    EXPECT_EQ(theirs.fields(), before);
  }

  RawRedis raw{shared_server()};
  RedisxRuns theirs{raw, "order:42"};
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
  std::shared_ptr<store::Store> store;
};

TEST_F(RedisxIdempotency, what_theirs_came_to_is_replayed_by_us) {
  EXPECT_THAT(theirs.check_and_lock("f"), ElementsAre("new"));
  const auto waiting = ask(begin_as("ann", "f"));
  EXPECT_EQ(waiting.found, RunFound::in_progress);
  EXPECT_FALSE(waiting.done);
  EXPECT_GT(waiting.remaining, 0us);
  EXPECT_LE(waiting.remaining, run_guard + 1s);
  theirs.complete("f", "201", paid.body, paid.headers);
  for (const auto& command : {begin_as("ann", "f"), begin_as("ann"), look_at_run()}) {
    const auto replay = ask(command);
    EXPECT_EQ(replay.found, RunFound::completed);
    EXPECT_EQ(replay.answer, paid);
    EXPECT_EQ(replay.fence, 0U);
    EXPECT_GT(replay.remaining, 23h);
  }
  EXPECT_EQ(ask(begin_as("ann", "g")).found, RunFound::mismatch);
}

TEST_F(RedisxIdempotency, what_ours_came_to_is_replayed_by_them) {
  EXPECT_TRUE(ask(begin_as("ann", "f")).done);
  EXPECT_THAT(theirs.check_and_lock("f"), ElementsAre("processing"));
  EXPECT_THAT(theirs.check_and_lock("g"), ElementsAre("fingerprint_mismatch"));
  EXPECT_TRUE(ask(complete_as("ann", paid)).done);
  EXPECT_THAT(theirs.check_and_lock("f"),
              ElementsAre("completed", "201", paid.body, paid.headers, ""));
  EXPECT_THAT(theirs.check_and_lock("g"), ElementsAre("fingerprint_mismatch"));
}

TEST_F(RedisxIdempotency, our_records_have_their_fields_and_one_more) {
  const auto fence = ask(begin_as("ann", "f")).fence;
  auto fields = theirs.fields();
  const auto started = fields["startedAt"];
  EXPECT_NEAR(std::stod(started), static_cast<double>(theirs.now_ms()), 60'000);
  EXPECT_TRUE(fields["holdfast"].starts_with("processing " + started + " - 0 " +
                                             std::to_string(fence) + " 10000 "))
      << fields["holdfast"];
  EXPECT_TRUE(fields["holdfast"].ends_with(" ann"));
  fields.erase("holdfast");
  EXPECT_EQ(fields, (std::map<std::string, std::string>{
                        {"fingerprint", "f"}, {"status", "processing"}, {"startedAt", started}}));
  EXPECT_LE(theirs.ttl(), run_guard + run_ttl + 2ms);
  EXPECT_GT(theirs.ttl(), run_ttl);

  ask(complete_as("ann", {.body = "[]"}));
  fields = theirs.fields();
  const auto completed = fields["completedAt"];
  EXPECT_GE(std::stoll(completed), std::stoll(started));
  fields.erase("holdfast");
  EXPECT_EQ(fields, (std::map<std::string, std::string>{{"fingerprint", "f"},
                                                        {"status", "completed"},
                                                        {"startedAt", started},
                                                        {"statusCode", "200"},
                                                        {"response", "[]"},
                                                        {"headers", ""},
                                                        {"completedAt", completed}}));
  EXPECT_LE(theirs.ttl(), run_ttl + 2ms);
}

TEST_F(RedisxIdempotency, a_failure_is_told_both_ways_and_for_a_bounded_time) {
  ask(begin_as("ann", "f"));
  ask(fail_as("ann", "no money"));
  EXPECT_THAT(theirs.check_and_lock("f"), ElementsAre("failed", "", "", "", "no money"));
  EXPECT_LE(theirs.ttl(), run_keep_failure + 2ms);
  EXPECT_GT(theirs.ttl(), 0ms);
  ask(forget_run());
  EXPECT_TRUE(theirs.fields().empty());
  EXPECT_THAT(theirs.check_and_lock("f"), ElementsAre("new"));
  theirs.fail("f", "no money of theirs");
  const auto told = ask(begin_as("ann", "f"));
  EXPECT_EQ(told.found, RunFound::failed);
  EXPECT_EQ(told.failure, "no money of theirs");
  EXPECT_GT(told.remaining, 0us);
  EXPECT_LE(told.remaining, run_guard);
}

TEST_F(RedisxIdempotency, a_run_of_theirs_that_died_is_taken_over_by_us) {
  theirs.check_and_lock("f");
  theirs.let_pass(10'500ms);
  const auto seen = ask(begin_or_refuse_as("ann"));
  EXPECT_EQ(seen.found, RunFound::abandoned);
  EXPECT_FALSE(seen.done);
  EXPECT_EQ(ask(begin_as("ann", "g")).found, RunFound::mismatch);
  const auto taken = ask(begin_as("ann", "f"));
  EXPECT_TRUE(taken.done);
  EXPECT_EQ(taken.found, RunFound::abandoned);
  EXPECT_GT(taken.fence, 0U);
  EXPECT_THAT(theirs.check_and_lock("f"), ElementsAre("processing"));
  EXPECT_TRUE(ask(fail_as("ann", "why")).done);
  EXPECT_EQ(ask(look_at_run()).found, RunFound::abandoned) << "what theirs did nobody knows";
  EXPECT_TRUE(ask(complete_as("ann", paid)).done);
  EXPECT_EQ(theirs.check_and_lock("f").front(), "completed");
}

// They have no owner: whoever of them was believed dead writes all the same.
TEST_F(RedisxIdempotency, theirs_that_comes_back_after_we_took_over_is_not_overwritten_by_us) {
  theirs.check_and_lock("f");
  theirs.let_pass(10'500ms);
  ask(begin_as("ann", "f"));
  theirs.complete("f", "200", "theirs", "");
  expect_late_words_change_nothing(RunFound::completed);
  EXPECT_EQ(ask(begin_as("ben", "f")).answer.body, "theirs");
}

TEST_F(RedisxIdempotency, a_run_of_ours_that_they_took_over_is_theirs) {
  ask(begin_as("ann", "f"));
  theirs.clock_is_wrong_by_ms = 60'000;
  EXPECT_THAT(theirs.check_and_lock("f"), ElementsAre("new"));
  theirs.clock_is_wrong_by_ms = 0;
  expect_late_words_change_nothing(RunFound::in_progress);
  EXPECT_EQ(ask(begin_as("ann", "f")).found, RunFound::in_progress) << "not even a late begin";
  theirs.complete("f", "200", "theirs", "");
  expect_late_words_change_nothing(RunFound::completed);
}

TEST_F(RedisxIdempotency, a_clock_of_theirs_that_is_wrong_does_not_let_us_take_over_early) {
  for (const long long wrong_by_ms : {-3'600'000LL, 0LL, 3'600'000LL}) {
    raw.call({"FLUSHALL"});
    theirs.clock_is_wrong_by_ms = wrong_by_ms;
    theirs.check_and_lock("f");
    const auto told = ask(begin_as("ann", "f"));
    EXPECT_EQ(told.found, RunFound::in_progress) << wrong_by_ms;
    EXPECT_GT(told.remaining, 0us);
    EXPECT_LE(told.remaining, 2 * run_guard) << "then the key is gone";
  }
}

TEST_F(RedisxIdempotency, a_record_of_theirs_without_a_ttl_goes_by_its_start_alone) {
  theirs.check_and_lock("f");
  raw.call({"PERSIST", theirs.key()});
  EXPECT_EQ(ask(begin_as("ann", "f")).found, RunFound::in_progress);
  theirs.let_pass(10'500ms);
  EXPECT_TRUE(ask(begin_as("ann", "f")).done);
}

TEST_F(RedisxIdempotency, a_renewal_is_a_sign_of_life_to_them) {
  ask(begin_as("ann", "f"));
  const auto started = std::stoll(theirs.fields()["startedAt"]);
  ASSERT_TRUE(eventually([&] { return theirs.now_ms() >= started + 5; }));
  EXPECT_TRUE(ask(renew_as("ann")).done);
  const auto renewed = std::stoll(theirs.fields()["startedAt"]);
  EXPECT_GE(renewed, started + 5);
  // A moment when the first start would be too long ago.
  theirs.clock_stands_at_ms = started + theirs.lock_timeout.count() + 2;
  EXPECT_THAT(theirs.check_and_lock("f"), ElementsAre("processing"));
  theirs.clock_stands_at_ms = renewed + theirs.lock_timeout.count() + 1;
  EXPECT_THAT(theirs.check_and_lock("f"), ElementsAre("new"));
}

TEST_F(RedisxIdempotency, what_they_leave_out_is_taken_as_they_would_take_it) {
  raw.call({"HSET", theirs.key(), "status", "completed"});
  const auto bare = ask(begin_as("ann", "anything"));
  EXPECT_EQ(bare.found, RunFound::completed);
  EXPECT_EQ(bare.answer, Answer{});
  raw.call({"HSET", theirs.key(), "fingerprint", "", "statusCode", "9000", "headers", "\xff",
            "response", "\xff"});
  const auto odd = ask(begin_as("ann", "anything"));
  EXPECT_EQ(odd.answer, (Answer{.status = 200, .headers = "", .body = "\xff"}));
  raw.call({"HSET", theirs.key(), "status", "failed", "error", std::string(2000, 'w') + "\xff"});
  EXPECT_EQ(ask(look_at_run()).failure, std::string(max_failure_bytes, 'w'));
  raw.call({"HDEL", theirs.key(), "error"});
  EXPECT_EQ(ask(look_at_run()).failure, "");
}

TEST_F(RedisxIdempotency, a_note_of_ours_that_does_not_fit_its_record_counts_for_nothing) {
  ask(begin_as("ann", "f"));
  const auto note = theirs.fields()["holdfast"];
  const std::string odd_ones[] = {"", "nonsense", note.substr(0, note.size() - 4), "x" + note,
                                  "completed" + note.substr(10)};
  for (const auto& odd : odd_ones) {
    raw.call({"HSET", theirs.key(), "holdfast", odd});
    EXPECT_FALSE(ask(renew_as("ann")).done) << odd;
    EXPECT_EQ(ask(look_at_run()).fence, 0U) << odd;
  }
  raw.call({"HSET", theirs.key(), "holdfast", note});
  EXPECT_TRUE(ask(renew_as("ann")).done);
}

TEST_F(RedisxIdempotency, what_is_no_record_of_a_run_is_left_alone) {
  const std::vector<Words> all{{"SET", theirs.key(), "mine"},
                               {"HSET", theirs.key(), "field", "mine"},
                               {"HSET", theirs.key(), "status", "dancing"}};
  for (const auto& words : all) {
    raw.call({"DEL", theirs.key()});
    raw.call(words);
    const auto before = raw.text({"DUMP", theirs.key()});
    for (const auto& command :
         {begin_as("ann"), renew_as("ann"), complete_as("ann", paid), fail_as("ann", "why"),
          abandon_as("ann"), look_at_run(), forget_run()}) {
      const auto reply = send(command);
      ASSERT_FALSE(reply);
      EXPECT_EQ(reply.error().code, Errc::spec_mismatch) << reply.error().message;
    }
    EXPECT_EQ(raw.text({"DUMP", theirs.key()}), before);
  }
}

TEST_F(RedisxIdempotency, a_fresh_run_costs_two_round_trips_and_a_replay_one) {
  const auto client = open(shared_server().url()).value();
  const auto pay = [&](const std::string& key) {
    const auto once = client.idempotent(
        key, {.fingerprint = "f"}, [](const holdfast::Run&) -> Result<Answer> { return paid; });
    EXPECT_TRUE(is_ok(once));
    return once ? once->ending : Ending::unknown;
  };
  const auto scripts = [&] {
    const auto info = raw.text({"INFO", "commandstats"});
    const auto at = info.find("cmdstat_evalsha:calls=");
    return at == std::string::npos ? 0LL : std::stoll(info.substr(at + 22));
  };
  EXPECT_EQ(pay("first"), Ending::ran) << "from here on the script is known";
  raw.call({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(pay("order:42"), Ending::ran);
  EXPECT_EQ(scripts(), 2);
  EXPECT_EQ(pay("order:42"), Ending::replayed);
  EXPECT_EQ(scripts(), 3);
  EXPECT_EQ(theirs.check_and_lock("f").front(), "completed");
}

}  // namespace
}  // namespace holdfast::test
