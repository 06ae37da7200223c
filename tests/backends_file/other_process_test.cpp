// SPDX-License-Identifier: Apache-2.0
//
// What a process that is stopped, or forked, may do to the others.
#include "backends_file/child_process.hpp"
#include "backends_file/file_fixture.hpp"
#include "support/timing.hpp"

#include <gmock/gmock.h>

#include <future>
#include <thread>

namespace holdfast::test {

namespace {

using ::testing::HasSubstr;

class OtherProcess : public FileStoreTest {
 protected:
  // A process that is inside the store, and stays there.
  ChildProcess stopped_inside() {
    ChildProcess child([this] {
      auto environment = backends::file::shared_environment(
          {.path = folder_.path(), .boot_id = std::string(this_boot)}, *runtime_);
      if (!environment) return 1;
      auto inside = (*environment)->enter(*runtime_, {.deadline = runtime_->now() + 60s});
      if (!inside) return 2;
      raise(SIGSTOP);
      return 0;
    });
    EXPECT_TRUE(child.wait_until_stopped());
    return child;
  }
};

TEST_F(OtherProcess, that_is_stopped_inside_the_store_costs_a_clean_error_at_the_deadline) {
  Door door = must_open();
  ChildProcess child = stopped_inside();
  const auto before = runtime_->now();
  const auto outcome = door.acquire({.patience = 120ms});
  const auto waited = runtime_->now() - before;
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::unavailable);
  EXPECT_THAT(outcome.error().message, HasSubstr("process " + std::to_string(child.pid())));
  EXPECT_GE(waited, 120ms);
  EXPECT_LT(waited, at_most(5s));
  kill(child.pid(), SIGCONT);
  EXPECT_EQ(child.join(), 0);
  EXPECT_TRUE(is<model::Granted>(door.acquire()));
}

TEST_F(OtherProcess, that_is_stopped_costs_a_listing_no_more_than_its_deadline) {
  Door door = must_open();
  ChildProcess child = stopped_inside();
  EXPECT_EQ(door.list({.deadline = runtime_->now() + 20ms}).error().code, Errc::unavailable);
}

TEST_F(OtherProcess, that_is_stopped_costs_an_open_no_more_than_its_patience) {
  ChildProcess child = stopped_inside();
  const auto door = open();
  ASSERT_FALSE(door);
  EXPECT_EQ(door.error().code, Errc::unavailable);
}

TEST_F(OtherProcess, that_is_stopped_and_then_killed_leaves_a_store_that_works_at_once) {
  Door door = must_open();
  ChildProcess child = stopped_inside();
  child.kill_now();
  EXPECT_TRUE(is<model::Granted>(door.acquire({.patience = 0ms})));
}

TEST_F(OtherProcess, that_is_stopped_does_not_keep_a_cancelled_caller) {
  Door door = must_open();
  ChildProcess child = stopped_inside();
  std::stop_source stop;
  auto outcome = std::async(std::launch::async, [&] {
    return door.acquire({.patience = 60s, .stop = stop.get_token()});
  });
  EXPECT_EQ(outcome.wait_for(20ms), std::future_status::timeout);
  stop.request_stop();
  ASSERT_EQ(outcome.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(outcome.get().error().code, Errc::cancelled);
}

TEST_F(OtherProcess, that_is_stopped_costs_what_the_worker_does_a_clean_error_too) {
  runtime_->pretend_to_be_the_own_thread();
  Door door = must_open();
  ChildProcess child = stopped_inside();
  EXPECT_EQ(door.acquire({.patience = 20ms}).error().code, Errc::unavailable);
  EXPECT_EQ(door.list({.deadline = runtime_->now() + 20ms}).error().code, Errc::unavailable);
  std::stop_source stop;
  stop.request_stop();
  const auto cancelled = door.acquire({.patience = 60s, .stop = stop.get_token()});
  EXPECT_EQ(cancelled.error().code, Errc::cancelled);
}

TEST_F(OtherProcess, that_was_forked_must_open_the_store_again) {
  Door door = must_open();
  fence_of(door.acquire());
  ChildProcess child([&] {
    const auto used = door.acquire({.owner = "ben", .request = 2});
    if (used || used.error().code != Errc::unavailable) return 1;
    if (used.error().message.find("before fork()") == std::string::npos) return 2;
    if (door.list() || door.store().listen(name_of("lock"), owner_of("ben"), model::RequestId{2})) {
      return 3;
    }
    auto again = open();
    if (!again || !is<model::Busy>(again->acquire({.owner = "ben", .request = 2}))) return 4;
    return is<model::Released>(again->release({.owner = "anna"})) ? 0 : 5;
  });
  EXPECT_EQ(child.join(), 0);
  EXPECT_TRUE(is<model::Granted>(door.acquire({.owner = "cleo", .request = 3})));
}

TEST_F(OtherProcess, that_was_forked_may_drop_what_it_inherited) {
  auto door = std::make_unique<Door>(must_open());
  auto listening = door->store().listen(name_of("lock"), owner_of("anna"), model::RequestId{1});
  ASSERT_TRUE(listening);
  runtime_->pretend_to_be_the_own_thread();
  fence_of(door->acquire());
  ChildProcess child([&] {
    listening->reset();
    door.reset();
    return 0;
  });
  EXPECT_EQ(child.join(), 0);
  EXPECT_TRUE(is<model::Released>(door->release()));
  EXPECT_GT(fence_of(door->acquire({.owner = "ben", .request = 2})), 0U);
}

}  // namespace

}  // namespace holdfast::test
