// SPDX-License-Identifier: Apache-2.0
#include "backends_file/child_process.hpp"
#include "backends_file/file_fixture.hpp"
#include "support/runs.hpp"

namespace holdfast::test {
namespace {

using model::RunCommand;
using model::RunOutcome;

const Answer paid{.status = 201, .headers = "{}", .body = std::string("\0\xff{}", 4)};

class FileRuns : public FileStoreTest {
 protected:
  FileRuns() { runtime_->set(runtime::LocalTime(5000h)); }

  Door open_under(std::string_view boot, bool durable = true) {
    return must_open({.durable = durable, .boot_id = std::string(boot)});
  }
  Result<store::Reply> send(Door& door, RunCommand command, std::string_view key = "order") {
    store::Request request{
        .name = name_of(key), .command = std::move(command), .deadline = runtime_->now() + 60s};
    return runtime::run_blocking(door.store().apply(std::move(request)));
  }
  RunOutcome apply(Door& door, RunCommand command, std::string_view key = "order") {
    auto reply = send(door, std::move(command), key);
    if (reply) return std::get<RunOutcome>(std::move(reply->outcome));
    ADD_FAILURE() << reply.error().message;
    return {};
  }
  std::string database() const {
    return content_of(folder_.file("locks-" + std::string(this_boot) + ".mdb"));
  }
};

TEST_F(FileRuns, what_it_came_to_is_known_after_a_restart) {
  Fence fence = 0;
  {
    Door door = open_under(this_boot);
    fence = apply(door, begin_as("ann", "f")).fence;
    apply(door, complete_as("ann", paid));
  }
  Door door = open_under(this_boot);
  const auto replay = apply(door, begin_as("ben", "f"));
  EXPECT_EQ(replay.answer, paid);
  EXPECT_EQ(replay.fence, fence);
  EXPECT_EQ(replay.remaining, run_ttl);
  EXPECT_EQ(apply(door, begin_as("ben", "g")).found, RunFound::mismatch);
}

TEST_F(FileRuns, a_run_is_still_under_way_after_a_restart_and_its_owner_goes_on) {
  {
    Door door = open_under(this_boot, false);
    apply(door, begin_as("ann"));
  }
  runtime_->pass(1s);
  Door door = open_under(this_boot, false);
  EXPECT_EQ(apply(door, begin_as("ben")).remaining, run_guard - 1s);
  EXPECT_TRUE(apply(door, renew_as("ann")).done);
  EXPECT_TRUE(apply(door, complete_as("ann", paid)).done);
}

TEST_F(FileRuns, two_processes_get_one_run) {
  const Pipe counted;
  const auto begin_some = [&](std::string_view owner) {
    Door door = open_under(this_boot, false);
    int runs = 0;
    for (int i = 0; i < 100; ++i) {
      runs += apply(door, begin_as(owner), "order:" + std::to_string(i)).done ? 1 : 0;
    }
    return runs;
  };
  ChildProcess child([&] {
    counted.tell(static_cast<char>(begin_some("ann")));
    return testing::Test::HasFailure() ? 1 : 0;
  });
  const int mine = begin_some("ben");
  EXPECT_EQ(child.join(), 0);
  EXPECT_EQ(mine + counted.hear(), 100);
}

TEST_F(FileRuns, whoever_looks_or_is_refused_costs_no_commit) {
  Door door = open_under(this_boot, false);
  apply(door, begin_as("ann", "f"));
  const auto before = database();
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(apply(door, begin_as("ben", "f")).done);
    EXPECT_FALSE(apply(door, begin_as("ben", "g")).done);
    EXPECT_FALSE(apply(door, complete_as("ben", paid)).done);
    apply(door, look_at_run());
    apply(door, look_at_run(), "nobody");
    apply(door, renew_as("ben"), "nobody");
  }
  EXPECT_EQ(database(), before);
}

// After a reboot the clock begins anew, far below what it was.
TEST_F(FileRuns, after_a_reboot_a_run_keeps_its_guard_once_more_and_is_then_abandoned) {
  Fence fence = 0;
  {
    Door door = open_under(this_boot);
    fence = apply(door, begin_as("ann")).fence;
    runtime_->pass(4s);
    apply(door, begin_as("eva"), "something else");
  }
  runtime_->set(runtime::LocalTime(10s));
  Door door = open_under(next_boot);
  const auto told = apply(door, begin_as("ben"));
  EXPECT_EQ(told.found, RunFound::in_progress);
  EXPECT_EQ(told.remaining, run_guard);
  runtime_->pass(run_guard);
  EXPECT_EQ(apply(door, look_at_run()).remaining, run_ttl) << "it is known as long as it was asked";
  const auto next = apply(door, begin_as("ben"));
  EXPECT_EQ(next.found, RunFound::abandoned);
  EXPECT_TRUE(next.done);
  EXPECT_GT(next.fence, fence);
}

TEST_F(FileRuns, after_a_reboot_what_was_abandoned_or_has_ended_is_so_for_the_time_that_was_left) {
  {
    Door door = open_under(this_boot);
    apply(door, begin_as("ann"), "abandoned");
    apply(door, complete_as("ann", paid), "completed");
    apply(door, begin_as("ann"), "failed");
    apply(door, fail_as("ann", "why"), "failed");
    runtime_->pass(run_guard + 5s);
    apply(door, begin_as("eva"), "something else");
  }
  runtime_->set(runtime::LocalTime(10s));
  Door door = open_under(next_boot);
  const auto abandoned = apply(door, look_at_run(), "abandoned");
  EXPECT_EQ(abandoned.found, RunFound::abandoned);
  EXPECT_EQ(abandoned.remaining, run_ttl - 5s);
  const auto completed = apply(door, look_at_run(), "completed");
  EXPECT_EQ(completed.answer, paid);
  EXPECT_EQ(completed.remaining, run_ttl - run_guard - 5s);
  const auto failed = apply(door, look_at_run(), "failed");
  EXPECT_EQ(failed.failure, "why");
  EXPECT_EQ(failed.remaining, run_keep_failure - run_guard - 5s);
}

TEST_F(FileRuns, what_was_over_before_a_reboot_is_gone_after_it) {
  {
    Door door = open_under(this_boot);
    apply(door, complete_as("ann", paid));
    runtime_->pass(run_ttl);
    apply(door, begin_as("eva"), "something else");
  }
  runtime_->set(runtime::LocalTime(10s));
  Door door = open_under(next_boot);
  EXPECT_EQ(apply(door, begin_as("ben")).found, RunFound::nothing);
}

TEST_F(FileRuns, the_largest_answer_survives_a_restart) {
  const Answer large{.headers = std::string(max_answer_header_bytes, 'h'),
                     .body = std::string(max_answer_bytes, '\xfe')};
  {
    Door door = open_under(this_boot);
    apply(door, begin_as("ann"));
    EXPECT_TRUE(apply(door, complete_as("ann", large)).done);
  }
  Door door = open_under(this_boot);
  EXPECT_TRUE(apply(door, look_at_run()).answer == large);
}

// 4,000 of them need many times the room there is.
TEST_F(FileRuns, answers_do_not_pile_up) {
  auto small = open({.initial_bytes = 2U << 20U, .max_bytes = 2U << 20U});
  ASSERT_TRUE(small) << small.error().message;
  const Answer some{.body = std::string(3000, 'b')};
  for (int i = 0; i < 4'000; ++i) {
    runtime_->pass(1s);
    ASSERT_TRUE(apply(*small, complete_as("ann", some), "order:" + std::to_string(i)).done) << i;
  }
}

TEST_F(FileRuns, no_listing_shows_a_run) {
  Door door = open_under(this_boot, false);
  apply(door, begin_as("ann"));
  EXPECT_TRUE(door.list().value().locks.empty());
  EXPECT_TRUE(door.list({.machine = model::Machine::idempotency}).value().locks.empty());
}

}  // namespace
}  // namespace holdfast::test
