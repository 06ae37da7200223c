// SPDX-License-Identifier: Apache-2.0
#include "backends/file/steps.hpp"
#include "backends_file/file_fixture.hpp"

#include <future>
#include <vector>

namespace holdfast::test {

namespace {

class Durable : public FileStoreTest {
 protected:
  Door open_under(std::string_view boot) {
    return must_open({.durable = true, .boot_id = std::string(boot)});
  }
  Door open_volatile_under(std::string_view boot) {
    return must_open({.boot_id = std::string(boot)});
  }
};

TEST_F(Durable, a_live_lease_gets_its_full_ttl_again_after_a_reboot) {
  runtime_->set(runtime::LocalTime(5000s));
  const Fence fence = fence_of(open_under(this_boot).acquire({.owner = "anna", .ttl = 60s}));
  runtime_->set(runtime::LocalTime(10s));
  Door door = open_under(next_boot);
  EXPECT_TRUE(is<model::Busy>(door.acquire({.owner = "ben", .request = 2})));
  runtime_->pass(59s);
  EXPECT_TRUE(is<model::Busy>(door.acquire({.owner = "ben", .request = 2})));
  EXPECT_EQ(fence_of(door.renew({.owner = "anna", .ttl = 20s})), fence);
  runtime_->pass(21s);
  EXPECT_GT(fence_of(door.acquire({.owner = "ben", .request = 2})), fence);
}

// As clients do after a reconnect: it asks for the smallest ttl, and shortens nothing.
TEST_F(Durable, a_lease_that_was_confirmed_has_no_less_after_a_reboot) {
  runtime_->set(runtime::LocalTime(5000s));
  {
    Door door = open_under(this_boot);
    fence_of(door.acquire({.owner = "anna", .ttl = 60s}));
    fence_of(door.renew({.owner = "anna", .ttl = 20ms}));
  }
  runtime_->set(runtime::LocalTime(10s));
  Door door = open_under(next_boot);
  runtime_->pass(50s);
  EXPECT_TRUE(is<model::Busy>(door.acquire({.owner = "ben", .request = 2})))
      << "anna was told 60 s and believes in them";
}

TEST_F(Durable, a_lease_that_had_ended_before_the_reboot_stays_ended) {
  runtime_->set(runtime::LocalTime(5000s));
  {
    Door door = open_under(this_boot);
    fence_of(door.acquire({.name = "ended", .ttl = 1s}));
    runtime_->pass(2s);
    fence_of(door.acquire({.name = "later", .request = 2}));
  }
  runtime_->set(runtime::LocalTime(10s));
  Door door = open_under(next_boot);
  EXPECT_TRUE(is<model::Granted>(door.acquire({.name = "ended", .owner = "ben", .request = 3})));
  EXPECT_TRUE(is<model::Busy>(door.acquire({.name = "later", .owner = "ben", .request = 4})));
}

TEST_F(Durable, nobody_waits_any_more_after_a_reboot) {
  runtime_->set(runtime::LocalTime(5000s));
  {
    Door door = open_under(this_boot);
    fence_of(door.acquire({.owner = "anna"}));
    EXPECT_TRUE(is<model::Queued>(door.acquire(
        {.owner = "ben", .request = 2, .wait = true, .process = model::ProcessId{77}})));
  }
  runtime_->set(runtime::LocalTime(10s));
  Door door = open_under(next_boot);
  const auto page = door.list();
  ASSERT_TRUE(page);
  ASSERT_EQ(page->locks.size(), 1U);
  EXPECT_TRUE(page->locks[0].waiters.empty());
  EXPECT_EQ(page->locks[0].holders.size(), 1U);
}

TEST_F(Durable, opening_again_under_the_same_boot_gives_nobody_more_time) {
  runtime_->set(runtime::LocalTime(5000s));
  fence_of(open_under(this_boot).acquire({.owner = "anna", .ttl = 60s}));
  runtime_->pass(61s);
  Door door = open_under(this_boot);
  EXPECT_TRUE(is<model::Granted>(door.acquire({.owner = "ben", .request = 2})));
}

TEST_F(Durable, names_too_long_for_a_key_survive_a_reboot) {
  const std::string name(512, 'n');
  fence_of(open_under(this_boot).acquire({.name = name}));
  Door door = open_under(next_boot);
  EXPECT_TRUE(is<model::Busy>(door.acquire({.name = name, .owner = "ben", .request = 2})));
}

TEST_F(Durable, fences_continue_above_the_stored_ones_even_if_the_clock_was_set_back) {
  fence_of(open_under(this_boot).acquire({.owner = "anna"}));
  constexpr Fence far_ahead = Fence{1} << 62U;
  {
    auto folder = backends::file::Folder::open(folder_.path());
    auto database = backends::file::Database::open(
        *folder, {.name = "locks-durable.mdb", .durable = true, .max_bytes = 1 << 20});
    auto txn = (*database)->begin();
    auto meta = backends::file::read_meta(*txn);
    ASSERT_TRUE(meta);
    meta->fence_bound = far_ahead;
    ASSERT_EQ(write_meta(*txn, *meta), 0);
    ASSERT_EQ(txn->commit(), 0);
  }
  Door door = open_under(next_boot);
  EXPECT_GT(fence_of(door.acquire({.name = "another", .request = 2})), far_ahead);
}

TEST_F(Durable, without_it_a_reboot_forgets_every_lock_but_no_fence_is_given_twice) {
  const Fence fence = fence_of(open_volatile_under(this_boot).acquire({.owner = "anna"}));
  Door door = open_volatile_under(next_boot);
  EXPECT_GT(fence_of(door.acquire({.owner = "ben", .request = 2})), fence);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("locks-" + std::string(this_boot) + ".mdb")));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("wake-" + std::string(this_boot))));
}

TEST_F(Durable, steps_that_wait_together_share_one_commit) {
  const auto environment = backends::file::shared_environment(
      {.path = folder_.path(), .durable = true, .boot_id = std::string(this_boot)}, *runtime_);
  ASSERT_TRUE(environment);
  Door door(backends::file::make_file_store(*environment, runtime_), runtime_);
  auto inside = (*environment)->enter(*runtime_, {.deadline = runtime_->now() + 60s});
  ASSERT_TRUE(inside);
  std::vector<std::future<Fence>> fences;
  for (std::uint64_t i = 0; i < 16; ++i) {
    fences.push_back(std::async(std::launch::async, [&door, i] {
      const std::string name = "group:" + std::to_string(i);
      return fence_of(door.acquire({.name = name, .request = i + 1}));
    }));
  }
  // They queue behind us, all of them, because nobody can enter.
  for (auto& fence : fences) EXPECT_EQ(fence.wait_for(5ms), std::future_status::timeout);
  inside->unlock();
  std::set<Fence> seen;
  for (auto& fence : fences) seen.insert(fence.get());
  EXPECT_EQ(seen.size(), 16U);
}

TEST_F(Durable, in_a_shared_transaction_a_step_that_is_refused_leaves_the_others_alone) {
  auto folder = backends::file::Folder::open(folder_.path());
  auto wake = backends::file::WakeFile::open(*folder, {.boot_id = std::string(this_boot)});
  ASSERT_TRUE(folder && wake);
  auto database = backends::file::Database::open(
      *folder, {.name = "locks-test.mdb", .initial_bytes = 1 << 20, .max_bytes = 1 << 20});
  ASSERT_TRUE(database);
  const auto ask = [&](const Ask& what) {
    return request_for(what, acquire_command(what), *runtime_);
  };
  const store::Request requests[] = {ask({.name = "a", .owner = "anna", .request = 1}),
                                     ask({.name = "a", .owner = "ben", .request = 2}),
                                     ask({.name = "b", .owner = "ben", .request = 3})};
  backends::file::PendingStep steps[] = {
      {.request = &requests[0]}, {.request = &requests[1]}, {.request = &requests[2]}};
  backends::file::PendingStep* const all[] = {&steps[0], &steps[1], &steps[2]};
  run_steps(**database, *wake, all, model::StoreTime(1s));
  const Fence first = fence_of(outcome_of(std::move(steps[0].reply)));
  EXPECT_TRUE(is<model::Busy>(outcome_of(std::move(steps[1].reply))));
  EXPECT_GT(fence_of(outcome_of(std::move(steps[2].reply))), first);
  auto txn = (*database)->begin();
  ASSERT_TRUE(txn);
  EXPECT_EQ(txn->number(), 3U) << "one commit made the store, one ran all three steps";
}

}  // namespace

}  // namespace holdfast::test
