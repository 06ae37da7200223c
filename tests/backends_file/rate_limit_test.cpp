// SPDX-License-Identifier: Apache-2.0
#include "backends_file/child_process.hpp"
#include "backends_file/file_fixture.hpp"

namespace holdfast::test {
namespace {

using model::RateCommand;
using Verb = RateCommand::Verb;

constexpr RateRule sliding{.algorithm = RateAlgorithm::sliding_window, .limit = 3, .window = 1h};
constexpr RateRule fixed{.algorithm = RateAlgorithm::fixed_window, .limit = 3, .window = 1h};
constexpr RateRule bucket{.algorithm = RateAlgorithm::token_bucket, .limit = 3, .window = 1h};
constexpr RateRule all_rules[] = {fixed, sliding, bucket};

class FileRate : public FileStoreTest {
 protected:
  FileRate() { runtime_->set(runtime::LocalTime(5000h)); }

  Door open_under(std::string_view boot, bool durable = true) {
    return must_open({.durable = durable, .boot_id = std::string(boot)});
  }
  RateOutcome apply(Door& door, const RateCommand& command, std::string_view scope = "api") {
    store::Request request{.name = model::limit_name(scope, command.rule).value(),
                           .command = command,
                           .deadline = runtime_->now() + 60s};
    const auto reply = runtime::run_blocking(door.store().apply(std::move(request)));
    if (reply) return std::get<RateOutcome>(reply->outcome);
    ADD_FAILURE() << reply.error().message;
    return {};
  }
  RateOutcome check(Door& door, const RateRule& rule, std::uint32_t cost = 1,
                    std::string_view scope = "api") {
    return apply(door, {Verb::check, rule, cost}, scope);
  }
  RateOutcome peek(Door& door, const RateRule& rule) { return apply(door, {Verb::peek, rule}); }
  std::string database() const {
    return content_of(folder_.file("locks-" + std::string(this_boot) + ".mdb"));
  }
};

TEST_F(FileRate, it_counts_by_the_stores_clock) {
  Door door = open_under(this_boot, false);
  for (const auto& rule : all_rules) {
    const auto reset = check(door, rule, 3).reset_after;
    const auto told = check(door, rule);
    EXPECT_FALSE(told.allowed);
    runtime_->pass(told.retry_after - 1us);
    EXPECT_FALSE(check(door, rule).allowed);
    runtime_->pass(1us);
    EXPECT_TRUE(check(door, rule).allowed);
    runtime_->pass(reset);
  }
}

TEST_F(FileRate, whoever_looks_or_is_denied_costs_no_commit) {
  Door door = open_under(this_boot, false);
  for (const auto& rule : all_rules) check(door, rule, 3);
  const auto before = database();
  for (int i = 0; i < 100; ++i) {
    for (const auto& rule : all_rules) {
      EXPECT_FALSE(check(door, rule).allowed);
      EXPECT_FALSE(peek(door, rule).allowed);
    }
    apply(door, {Verb::peek, sliding}, "nobody");
    apply(door, {Verb::reset, sliding}, "nobody");
    runtime_->pass(1ms);
  }
  EXPECT_EQ(database(), before);
  runtime_->pass(2h);
  for (const auto& rule : all_rules) EXPECT_EQ(peek(door, rule).count, 0U);
  EXPECT_EQ(database(), before) << "not even what is over is removed by whoever looks";
  EXPECT_TRUE(check(door, sliding).allowed);
  EXPECT_NE(database(), before);
}

TEST_F(FileRate, a_reset_is_known_to_whoever_comes_next) {
  Door door = open_under(this_boot, false);
  for (const auto& rule : all_rules) {
    check(door, rule, 3);
    EXPECT_EQ(apply(door, {Verb::reset, rule}).remaining, 3U);
    EXPECT_TRUE(check(door, rule, 3).allowed);
  }
}

TEST_F(FileRate, two_processes_share_what_there_is) {
  constexpr RateRule many{.limit = 300, .window = 1h};
  const Pipe counted;
  ChildProcess child([&] {
    Door door = open_under(this_boot, false);
    int allowed = 0;
    for (int i = 0; i < 200; ++i) allowed += check(door, many).allowed ? 1 : 0;
    counted.tell(static_cast<char>(allowed - 100));
    return testing::Test::HasFailure() ? 1 : 0;
  });
  Door door = open_under(this_boot, false);
  int allowed = 0;
  for (int i = 0; i < 200; ++i) allowed += check(door, many).allowed ? 1 : 0;
  EXPECT_EQ(child.join(), 0);
  EXPECT_EQ(allowed + counted.hear() + 100, 300);
  EXPECT_EQ(peek(door, many).count, 300U);
}

// After a reboot the clock begins anew, far below what it was.
TEST_F(FileRate, what_was_counted_before_a_reboot_counts_for_the_time_that_was_left) {
  for (const auto& rule : all_rules) {
    SCOPED_TRACE(to_string(rule.algorithm));
    const TemporaryFolder folder;
    const auto door_under = [&](std::string_view boot) {
      return must_open({.path = folder.path(), .durable = true, .boot_id = std::string(boot)});
    };
    runtime_->set(runtime::LocalTime(5000h));
    {
      Door door = door_under(this_boot);
      check(door, rule, 3);
      runtime_->pass(10min);
      check(door, sliding, 1, "something else");
    }
    runtime_->set(runtime::LocalTime(10s));
    Door door = door_under(next_boot);
    const auto told = check(door, rule);
    EXPECT_FALSE(told.allowed);
    EXPECT_EQ(told.reset_after, 50min);
    runtime_->pass(told.retry_after - 1us);
    EXPECT_FALSE(check(door, rule).allowed);
    runtime_->pass(1us);
    EXPECT_TRUE(check(door, rule).allowed);
  }
}

TEST_F(FileRate, what_was_over_before_a_reboot_is_gone_after_it) {
  {
    Door door = open_under(this_boot);
    for (const auto& rule : all_rules) check(door, rule, 3);
    runtime_->pass(1h);
    check(door, sliding, 1, "something else");
  }
  runtime_->set(runtime::LocalTime(10s));
  Door door = open_under(next_boot);
  for (const auto& rule : all_rules) EXPECT_TRUE(check(door, rule, 3).allowed);
}

// The machine ran for a minute, and runs for longer now: so much time has passed at least.
TEST_F(FileRate, a_clock_that_is_ahead_after_a_reboot_gives_back_no_more_than_has_passed) {
  runtime_->set(runtime::LocalTime(1min));
  {
    Door door = open_under(this_boot);
    for (const auto& rule : all_rules) check(door, rule, 3);
  }
  runtime_->set(runtime::LocalTime(30min));
  Door door = open_under(next_boot);
  EXPECT_EQ(check(door, sliding).retry_after, 31min);
  EXPECT_EQ(check(door, fixed).retry_after, 30min);
  EXPECT_EQ(peek(door, bucket).remaining, 1U) << "29 of 20 minutes for each";
}

TEST_F(FileRate, several_reboots_in_a_row_lose_nothing) {
  {
    check(*std::make_unique<Door>(open_under(this_boot)), sliding, 3);
  }
  for (const auto boot : {next_boot, this_boot, next_boot, this_boot}) {
    runtime_->set(runtime::LocalTime(10s));
    Door door = open_under(boot);
    EXPECT_EQ(check(door, sliding).retry_after, 1h);
  }
}

// 20,000 of them need ten times the room there is.
TEST_F(FileRate, limits_that_are_used_once_do_not_pile_up) {
  auto small = open({.initial_bytes = 1U << 20U, .max_bytes = 1U << 20U});
  ASSERT_TRUE(small) << small.error().message;
  const std::string long_scope(390, 's');
  constexpr RateRule short_one{.limit = 3, .window = 1min};
  for (int i = 0; i < 20'000; ++i) {
    runtime_->pass(1s);
    ASSERT_TRUE(check(*small, short_one, 1, long_scope + std::to_string(i)).allowed) << i;
  }
}

TEST_F(FileRate, no_listing_shows_a_limit) {
  Door door = open_under(this_boot, false);
  check(door, sliding);
  EXPECT_TRUE(door.list().value().locks.empty());
  EXPECT_TRUE(door.list({.machine = model::Machine::rate_limit}).value().locks.empty());
}

}  // namespace
}  // namespace holdfast::test
