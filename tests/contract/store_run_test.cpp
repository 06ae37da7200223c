// SPDX-License-Identifier: Apache-2.0
//
// Runs on every store that has them: what the model's own tests say, atomically, by the store's
// clock and beside the locks.
#include "store_contract.hpp"
#include "support/runs.hpp"

namespace holdfast::test {

using model::RunCommand;
using model::RunOutcome;

namespace {

const Answer paid{.status = 201, .headers = R"({"Location":"/pay/7"})", .body = R"({"id":7})"};

RunCommand with_guard(RunCommand command, Micros guard) {
  command.guard = guard;
  return command;
}
RunCommand with_keep(RunCommand command, Micros keep) {
  command.keep = keep;
  return command;
}

class RunContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    if (!store) return;
    const auto probe = send_run(look_at_run(), "probe");
    if (probe) return;
    EXPECT_EQ(probe.error().code, Errc::unsupported) << probe.error().message;
    GTEST_SKIP() << probe.error().message;
  }

  Result<store::Reply> send_run(RunCommand command, std::string_view key = "order:42") {
    store::Request request{.name = name_of(key), .command = std::move(command), .deadline = soon()};
    return runtime::run_blocking(store->apply(std::move(request)));
  }
  RunOutcome run(RunCommand command, std::string_view key = "order:42") {
    auto reply = send_run(std::move(command), key);
    if (reply) return std::get<RunOutcome>(std::move(reply->outcome));
    ADD_FAILURE() << reply.error().message;
    return {};
  }
  void expect(RunCommand command, bool done, RunFound found) {
    const auto outcome = run(std::move(command));
    EXPECT_EQ(outcome.done, done);
    EXPECT_EQ(outcome.found, found) << to_string(outcome.found);
  }
  // Until somebody may take over; false if that never comes to be.
  bool await_end_of_guard() {
    return eventually([&] { return run(look_at_run()).found == RunFound::abandoned; });
  }
};

TEST_P(RunContract, the_first_one_runs_and_the_others_are_told_what_it_came_to) {
  const auto begun = run(begin_as("ann", "f"));
  EXPECT_TRUE(begun.done);
  EXPECT_EQ(begun.found, RunFound::nothing);
  EXPECT_GT(begun.fence, 0U);
  EXPECT_EQ(begun.remaining, run_guard);
  const auto told = run(begin_as("ben", "f"));
  EXPECT_FALSE(told.done);
  EXPECT_EQ(told.found, RunFound::in_progress);
  EXPECT_EQ(told.fence, begun.fence);
  EXPECT_GT(told.remaining, 0us);
  EXPECT_LE(told.remaining, run_guard);
  expect(complete_as("ann", paid, "f"), true, RunFound::in_progress);
  for (const auto& command : {begin_as("ben", "f"), begin_as("ann"), look_at_run()}) {
    const auto replay = run(command);
    EXPECT_FALSE(replay.done);
    EXPECT_EQ(replay.found, RunFound::completed);
    EXPECT_EQ(replay.fence, begun.fence);
    EXPECT_EQ(replay.answer, paid);
    EXPECT_LE(replay.remaining, run_ttl);
  }
  expect(begin_as("ben", "g"), false, RunFound::mismatch);
}

TEST_P(RunContract, a_failure_is_told_or_forgotten) {
  run(begin_as("ann"));
  expect(fail_as("ann", "no money \xe2\x82\xac"), true, RunFound::in_progress);
  const auto told = run(begin_as("ben"));
  EXPECT_EQ(told.found, RunFound::failed);
  EXPECT_EQ(told.failure, "no money \xe2\x82\xac");
  EXPECT_LE(told.remaining, run_keep_failure);
  expect(fail_as("ann", "again"), true, RunFound::failed);
  expect(forget_run(), true, RunFound::failed);
  run(begin_as("ann"));
  expect(fail_as("ann", "", 0us), true, RunFound::in_progress);
  expect(begin_as("ben"), true, RunFound::nothing);
}

TEST_P(RunContract, whoever_takes_over_has_a_larger_fence_and_cannot_be_overwritten) {
  const auto first = run(with_guard(begin_as("ann"), min_guard));
  ASSERT_TRUE(await_end_of_guard());
  expect(begin_or_refuse_as("ben"), false, RunFound::abandoned);
  const auto next = run(begin_as("ben"));
  EXPECT_TRUE(next.done);
  EXPECT_EQ(next.found, RunFound::abandoned);
  EXPECT_GT(next.fence, first.fence);
  for (const auto& late :
       {complete_as("ann", paid), fail_as("ann", "late"), abandon_as("ann"), renew_as("ann")}) {
    expect(late, false, RunFound::in_progress);
  }
  expect(complete_as("ben", {.body = "mine"}), true, RunFound::in_progress);
  expect(complete_as("ann", paid), false, RunFound::completed);
  EXPECT_EQ(run(look_at_run()).answer.body, "mine");
}

TEST_P(RunContract, a_run_that_took_over_and_fails_stays_abandoned) {
  run(begin_as("ann"));
  expect(abandon_as("ann"), true, RunFound::in_progress);
  expect(begin_as("ben"), true, RunFound::abandoned);
  expect(fail_as("ben", "nothing of mine"), true, RunFound::in_progress);
  expect(look_at_run(), false, RunFound::abandoned);
}

TEST_P(RunContract, a_renewed_run_stays_under_way) {
  run(begin_as("ann"));
  const auto renewed = run(renew_as("ann", 1h));
  EXPECT_TRUE(renewed.done);
  EXPECT_EQ(renewed.remaining, 1h);
  const auto told = run(begin_as("ben"));
  EXPECT_EQ(told.found, RunFound::in_progress);
  EXPECT_GT(told.remaining, 30min);
  EXPECT_GT(run(renew_as("ann", 1s)).remaining, 1s) << "never shorter";
}

TEST_P(RunContract, repeating_a_command_is_harmless) {
  const auto first = run(begin_as("ann", "f"));
  const auto again = run(begin_as("ann", "f"));
  EXPECT_TRUE(again.done);
  EXPECT_EQ(again.found, RunFound::nothing);
  EXPECT_EQ(again.fence, first.fence);
  expect(complete_as("ann", paid), true, RunFound::in_progress);
  expect(complete_as("ann", {.body = "other"}), true, RunFound::completed);
  EXPECT_EQ(run(look_at_run()).answer, paid);
}

TEST_P(RunContract, a_completion_without_a_record_makes_one) {
  expect(complete_as("ann", paid, "f"), true, RunFound::nothing);
  EXPECT_EQ(run(begin_as("ben", "f")).answer, paid);
  expect(begin_as("ben", "g"), false, RunFound::mismatch);
}

TEST_P(RunContract, what_is_over_is_forgotten) {
  run(begin_as("ann", "f"));
  run(with_keep(complete_as("ann", paid), min_answer_ttl));
  EXPECT_TRUE(eventually([&] { return run(look_at_run()).found == RunFound::nothing; }));
  expect(begin_as("ben", "g"), true, RunFound::nothing);
}

TEST_P(RunContract, the_largest_answer_comes_back_as_it_was) {
  std::string body(max_answer_bytes, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  const Answer large{
      .status = 599, .headers = std::string(max_answer_header_bytes, '"'), .body = std::move(body)};
  const std::string owner(max_owner_bytes, 'o');
  const std::string fingerprint(max_fingerprint_bytes, 'f');
  EXPECT_TRUE(run(begin_as(owner, fingerprint)).done);
  EXPECT_TRUE(run(complete_as(owner, large, fingerprint)).done);
  const auto replay = run(begin_as("ben", fingerprint));
  EXPECT_TRUE(replay.answer == large);
}

TEST_P(RunContract, keys_are_apart_from_each_other_and_from_the_locks) {
  const std::string longest(max_run_key_bytes, 'k');
  for (const std::string& key : {longest, longest.substr(1) + "l", std::string("order:42"),
                                 std::string("{a} b"), std::string("gr\xc3\xbc\xc3\x9f")}) {
    EXPECT_TRUE(run(begin_as("ann"), key).done) << key;
    EXPECT_FALSE(run(begin_as("ben"), key).done) << key;
  }
  must_be<model::Granted>(acquire({.owner = "ben"}));
  must_be<model::Released>(release("ben"));
  expect(look_at_run(), false, RunFound::in_progress);
  EXPECT_TRUE(names_listed("").empty()) << "a run is no lock";
}

TEST_P(RunContract, fences_of_runs_and_locks_come_from_one_counter) {
  const auto first = run(begin_as("ann")).fence;
  const auto lock = must_be<model::Granted>(acquire({.owner = "ben"})).fence;
  EXPECT_GT(lock, first);
  EXPECT_GT(run(begin_as("ann"), "order:43").fence, lock);
}

TEST_P(RunContract, bad_input_is_refused_with_the_field_and_changes_nothing) {
  const std::pair<RunCommand, std::string_view> all[] = {
      {begin_as(""), "owner"},
      {begin_as("ann", std::string(max_fingerprint_bytes + 1, 'f')), "fingerprint: "},
      {with_guard(begin_as("ann"), 0us), "guard: "},
      {with_guard(begin_as("ann"), max_guard + 1ms), "guard: "},
      {with_keep(begin_as("ann"), 0us), "ttl: "},
      {with_keep(complete_as("ann"), 1us), "ttl: "},
      {complete_as("ann", {.status = 99}), "status: "},
      {complete_as("ann", {.headers = "\xff"}), "headers: "},
      {complete_as("ann", {.body = std::string(max_answer_bytes + 1, 'b')}), "result: "},
      {fail_as("ann", std::string(max_failure_bytes + 1, 'w')), "error: "},
      {fail_as("ann", "", -1ms), "keep_failure: "}};
  for (const auto& [command, field] : all) {
    const auto reply = send_run(command);
    ASSERT_FALSE(reply) << field;
    EXPECT_EQ(reply.error().code, Errc::bad_input);
    EXPECT_TRUE(reply.error().message.starts_with(field)) << reply.error().message;
  }
  expect(look_at_run(), false, RunFound::nothing);
}

TEST_P(RunContract, what_is_known_is_the_same_for_everybody_who_opens_the_store) {
  run(begin_as("ann", "f"));
  run(complete_as("ann", paid));
  store = open_again();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(run(begin_as("ben", "f")).answer, paid);
}

TEST_P(RunContract, of_all_who_come_at_once_one_runs) {
  for (int round = 0; round < 5; ++round) {
    const auto key = "crowd:" + std::to_string(round);
    std::atomic<int> runs = 0;
    std::atomic<int> told = 0;
    {
      std::vector<std::jthread> all;
      for (int thread = 0; thread < 8; ++thread) {
        all.emplace_back([&, owner = "t" + std::to_string(thread)] {
          const auto begun = run(begin_as(owner, "f"), key);
          if (begun.done) {
            ++runs;
            run(complete_as(owner, {.body = owner}), key);
          } else if (begun.found == RunFound::in_progress || begun.found == RunFound::completed) {
            ++told;
          }
        });
      }
    }
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(told, 7);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, RunContract, testing::ValuesIn(stores_under_test()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace holdfast::test
