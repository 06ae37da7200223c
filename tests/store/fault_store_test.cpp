// SPDX-License-Identifier: Apache-2.0
//
// The bad line itself: a test of faults is worth what its faults are.
#include "support/fault_store.hpp"

#include "backends/memory/memory_store.hpp"
#include "runtime/spawn.hpp"
#include "support/hand_runtime.hpp"
#include "support/runs.hpp"

#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

const LockName orders = LockName::make("orders").value();

class FaultStoreTest : public testing::Test {
 public:
  using Answer = std::shared_ptr<std::optional<Result<store::Reply>>>;

  Answer acquire(FaultStore& line, std::string_view owner, std::stop_token stop = {}) {
    model::Acquire verb{.owner = OwnerId::make(owner).value(),
                        .request = model::RequestId{std::hash<std::string_view>{}(owner)},
                        .ttl = 10s};
    return apply(line, model::LockCommand{.spec = {}, .verb = std::move(verb)}, std::move(stop));
  }
  Answer apply(FaultStore& line, model::Command command, std::stop_token stop = {}) {
    auto answer = std::make_shared<std::optional<Result<store::Reply>>>();
    runtime::spawn(line.apply({.name = orders,
                               .command = std::move(command),
                               .deadline = runtime->now() + 500ms,
                               .stop = std::move(stop)}),
                   [answer](Result<store::Reply>&& reply) { answer->emplace(std::move(reply)); });
    runtime->run();
    return answer;
  }
  static bool is_granted(const Answer& answer) {
    if (!*answer || !**answer) return false;
    const auto& outcome = std::get<model::LockOutcome>((**answer)->outcome);
    return std::holds_alternative<model::Granted>(outcome);
  }
  static std::optional<Errc> error(const Answer& answer) {
    return *answer && !**answer ? std::optional((**answer).error().code) : std::nullopt;
  }
  bool is_held() const {
    std::optional<LockPage> page;
    runtime::spawn(store->inner()->list({}), [&](Result<LockPage>&& got) { page = got.value(); });
    return !page->locks.empty();
  }

  std::shared_ptr<HandRuntime> runtime = std::make_shared<HandRuntime>();
  std::shared_ptr<FaultStore> store =
      FaultStore::over(runtime, [this] { return backends::memory::make_memory_store(runtime); });
};

TEST_F(FaultStoreTest, without_a_script_it_is_the_store_behind_it) {
  EXPECT_TRUE(is_granted(acquire(*store, "anna")));
  EXPECT_EQ(store->count(Verb::acquire), 1U);
  EXPECT_EQ(store->count(Verb::release), 0U);
  ASSERT_EQ(store->history().size(), 1U);
  EXPECT_TRUE(store->history()[0].told->has_value());
}

TEST_F(FaultStoreTest, a_refused_command_has_not_happened) {
  store->script(Verb::acquire, Fault::refuse());
  EXPECT_EQ(error(acquire(*store, "anna")), Errc::unavailable);
  EXPECT_FALSE(is_held());
  EXPECT_TRUE(is_granted(acquire(*store, "anna"))) << "the script is used up";
}

TEST_F(FaultStoreTest, a_script_may_begin_later) {
  store->script(Verb::acquire, Fault::refuse(), 2, 1);
  EXPECT_EQ(error(acquire(*store, "anna")), std::nullopt);
  EXPECT_EQ(error(acquire(*store, "anna")), Errc::unavailable);
  EXPECT_EQ(error(acquire(*store, "anna")), Errc::unavailable);
  EXPECT_EQ(error(acquire(*store, "anna")), std::nullopt);
}

TEST_F(FaultStoreTest, a_lost_request_hangs_until_its_deadline_and_has_not_happened) {
  store->script(Verb::acquire, Fault::lose_request());
  const auto answer = acquire(*store, "anna");
  runtime->advance(500ms - 1ns);
  EXPECT_FALSE(answer->has_value());
  runtime->advance(1ns);
  EXPECT_EQ(error(answer), Errc::outcome_unknown);
  EXPECT_FALSE(is_held());
}

TEST_F(FaultStoreTest, a_lost_reply_hangs_until_its_deadline_and_has_happened) {
  store->script(Verb::acquire, Fault::lose_reply());
  const auto answer = acquire(*store, "anna");
  EXPECT_TRUE(is_held());
  runtime->advance(500ms);
  EXPECT_EQ(error(answer), Errc::outcome_unknown);
}

TEST_F(FaultStoreTest, a_delayed_reply_comes_in_time_or_not_at_all) {
  store->script(Verb::acquire, Fault::delay_reply(499ms));
  store->script(Verb::acquire, Fault::delay_reply(501ms));
  const auto in_time = acquire(*store, "anna");
  const auto too_late = acquire(*store, "anna");
  runtime->advance(2s);
  EXPECT_TRUE(is_granted(in_time));
  EXPECT_EQ(error(too_late), Errc::outcome_unknown);
}

TEST_F(FaultStoreTest, a_delayed_request_happens_even_after_its_caller_has_given_up) {
  store->script(Verb::acquire, Fault::delay_request(3s));
  const auto answer = acquire(*store, "anna");
  runtime->advance(500ms);
  EXPECT_EQ(error(answer), Errc::outcome_unknown);
  EXPECT_FALSE(is_held());
  runtime->advance(2500ms);
  EXPECT_TRUE(is_held());
}

TEST_F(FaultStoreTest, while_paused_nothing_gets_through_on_this_line_alone) {
  const auto other = store->another_line();
  store->pause();
  const auto answer = acquire(*store, "anna");
  EXPECT_TRUE(is_granted(acquire(*other, "ben")));
  runtime->advance(500ms);
  EXPECT_EQ(error(answer), Errc::unavailable);
}

TEST_F(FaultStoreTest, what_still_waits_goes_on_after_the_pause) {
  store->pause();
  const auto answer = acquire(*store, "anna");
  runtime->advance(400ms);
  EXPECT_FALSE(answer->has_value());
  store->resume();
  EXPECT_TRUE(is_granted(answer));
}

TEST_F(FaultStoreTest, a_stop_ends_a_hanging_command_and_says_whether_it_was_sent) {
  std::stop_source stop;
  store->pause();
  const auto unsent = acquire(*store, "anna", stop.get_token());
  stop.request_stop();
  runtime->run();
  EXPECT_EQ(error(unsent), Errc::cancelled);
  store->resume();
  std::stop_source again;
  store->script(Verb::acquire, Fault::lose_reply());
  const auto sent = acquire(*store, "anna", again.get_token());
  again.request_stop();
  runtime->run();
  EXPECT_EQ(error(sent), Errc::outcome_unknown);
}

TEST_F(FaultStoreTest, emptied_it_has_forgotten_everything_on_every_line) {
  const auto other = store->another_line();
  EXPECT_TRUE(is_granted(acquire(*store, "anna")));
  EXPECT_FALSE(is_granted(acquire(*other, "ben")));
  store->empty();
  EXPECT_FALSE(is_held());
  EXPECT_TRUE(is_granted(acquire(*other, "ben")));
}

TEST_F(FaultStoreTest, an_old_command_can_come_again) {
  EXPECT_TRUE(is_granted(acquire(*store, "anna")));
  store->empty();
  store->send_again(store->history()[0]);
  EXPECT_TRUE(is_held());
  EXPECT_EQ(store->count(Verb::acquire), 1U);
}

TEST_F(FaultStoreTest, every_word_of_a_run_has_a_script_of_its_own) {
  const std::pair<Verb, model::RunCommand> all[] = {
      {Verb::run_begin, begin_as("anna")},       {Verb::run_renew, renew_as("anna")},
      {Verb::run_complete, complete_as("anna")}, {Verb::run_fail, fail_as("anna", "why")},
      {Verb::run_abandon, abandon_as("anna")},   {Verb::run_look, look_at_run()},
      {Verb::run_forget, forget_run()}};
  for (const auto& [verb, command] : all) {
    store->script(verb, Fault::refuse());
    EXPECT_EQ(error(apply(*store, command)), Errc::unavailable);
    EXPECT_EQ(error(apply(*store, command)), std::nullopt);
    EXPECT_EQ(store->count(verb), 2U);
  }
  EXPECT_EQ(store->count(Verb::check_fence), 0U);
}

TEST_F(FaultStoreTest, a_decision_by_dice_covers_what_no_script_does) {
  store->decide_by([](Verb) { return Fault::refuse(); });
  store->script(Verb::acquire, Fault::none());
  EXPECT_TRUE(is_granted(acquire(*store, "anna")));
  EXPECT_EQ(error(acquire(*store, "anna")), Errc::unavailable);
}

}  // namespace
}  // namespace holdfast::test
