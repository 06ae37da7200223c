// SPDX-License-Identifier: Apache-2.0
#include "backends_file/file_fixture.hpp"

namespace holdfast::test {
namespace {

using model::GuardOutcome;

class FileGuard : public FileStoreTest {
 protected:
  Door open_under(std::string_view boot, bool durable = true) {
    return must_open({.durable = durable, .boot_id = std::string(boot)});
  }
  GuardOutcome check(Door& door, Fence fence, Micros keep = 1h,
                     std::string_view name = "warehouse") {
    store::Request request{.name = name_of(name),
                           .command = model::GuardCommand{.fence = fence, .keep = keep},
                           .deadline = runtime_->now() + 60s};
    const auto reply = runtime::run_blocking(door.store().apply(std::move(request)));
    if (reply) return std::get<GuardOutcome>(reply->outcome);
    ADD_FAILURE() << reply.error().message;
    return {};
  }
};

TEST_F(FileGuard, a_resource_is_forgotten_when_it_was_not_used_for_as_long_as_asked) {
  runtime_->set(runtime::LocalTime(5000s));
  Door door = open_under(this_boot, false);
  EXPECT_TRUE(check(door, 100).accepted);
  runtime_->pass(1h - 1us);
  EXPECT_FALSE(check(door, 99).accepted);
  runtime_->pass(1us);
  EXPECT_TRUE(check(door, 99).accepted);
}

TEST_F(FileGuard, a_durable_store_knows_the_newest_fence_after_a_reboot) {
  runtime_->set(runtime::LocalTime(5000s));
  const std::string longest(max_name_bytes, 'n');
  {
    Door door = open_under(this_boot);
    check(door, 100);
    check(door, 50, 1h, longest);
    fence_of(door.acquire({.name = "warehouse", .ttl = 60s}));
  }
  runtime_->set(runtime::LocalTime(10s));
  Door door = open_under(next_boot);
  EXPECT_EQ(check(door, 99), (GuardOutcome{.accepted = false, .newest = 100}));
  EXPECT_EQ(check(door, 49, 1h, longest), (GuardOutcome{.accepted = false, .newest = 50}));
  EXPECT_TRUE(is<model::Busy>(door.acquire({.name = "warehouse", .owner = "ben", .request = 2})));
}

TEST_F(FileGuard, after_a_reboot_a_resource_has_the_time_that_was_left) {
  runtime_->set(runtime::LocalTime(5000s));
  {
    Door door = open_under(this_boot);
    check(door, 100, 1h);
    check(door, 7, 1min, "long ago");
    runtime_->pass(10min);
    check(door, 1, 1h, "something else");
  }
  runtime_->set(runtime::LocalTime(10s));
  Door door = open_under(next_boot);
  EXPECT_TRUE(check(door, 6, 1min, "long ago").accepted);
  runtime_->pass(50min - 1us);
  EXPECT_FALSE(check(door, 99).accepted);
  runtime_->pass(1us);
  EXPECT_TRUE(check(door, 99).accepted);
}

TEST_F(FileGuard, a_check_that_repeats_the_newest_fence_writes_nothing) {
  runtime_->set(runtime::LocalTime(5000s));
  Door door = open_under(this_boot);
  check(door, 100, 8h);
  runtime_->pass(1h);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(check(door, 100, 8h).accepted);
  runtime_->pass(7h - 1us);
  EXPECT_FALSE(check(door, 99, 8h).accepted);
  runtime_->pass(1us);
  EXPECT_TRUE(check(door, 99, 8h).accepted) << "the checks in between moved nothing";
}

// Another thread would take longer than the check.
TEST_F(FileGuard, a_check_that_changes_nothing_is_answered_at_once_by_a_durable_store) {
  runtime_->set(runtime::LocalTime(5000s));
  Door door = open_under(this_boot);
  const auto is_ready = [&](Fence fence) {
    store::Request request{.name = name_of("warehouse"),
                           .command = model::GuardCommand{.fence = fence, .keep = 8h},
                           .deadline = runtime_->now() + 60s};
    auto asking = door.store().apply(std::move(request));
    const bool at_once = asking.is_ready();
    EXPECT_TRUE(runtime::run_blocking(std::move(asking)));
    return at_once;
  };
  EXPECT_FALSE(is_ready(100)) << "what is new has to reach the disk first";
  EXPECT_TRUE(is_ready(100));
  EXPECT_TRUE(is_ready(99)) << "a refusal changes nothing";
  EXPECT_FALSE(is_ready(101));
  EXPECT_EQ(check(door, 100, 8h), (GuardOutcome{.accepted = false, .newest = 101}));
}

// 20,000 of them need ten times the room there is.
TEST_F(FileGuard, resources_that_are_used_once_do_not_pile_up) {
  runtime_->set(runtime::LocalTime(5000s));
  auto small = open({.initial_bytes = 1U << 20U, .max_bytes = 1U << 20U});
  ASSERT_TRUE(small) << small.error().message;
  const std::string long_name(400, 'n');
  for (int i = 0; i < 20'000; ++i) {
    runtime_->pass(1s);
    ASSERT_TRUE(check(*small, 1, 1min, long_name + std::to_string(i)).accepted) << i;
  }
}

TEST_F(FileGuard, no_listing_shows_a_guard) {
  runtime_->set(runtime::LocalTime(5000s));
  Door door = open_under(this_boot, false);
  check(door, 100);
  EXPECT_TRUE(door.list().value().locks.empty());
  EXPECT_TRUE(door.list({.machine = model::Machine::fence_guard}).value().locks.empty());
}

}  // namespace
}  // namespace holdfast::test
