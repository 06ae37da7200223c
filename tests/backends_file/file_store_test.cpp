// SPDX-License-Identifier: Apache-2.0
#include "backends/file/file_store.hpp"

#include "backends_file/file_fixture.hpp"
#include "runtime/event.hpp"

#include <algorithm>
#include <future>
#include <set>
#include <thread>
#include <vector>

namespace holdfast::test {

namespace {

class FileStore : public FileStoreTest {};

TEST_F(FileStore, a_lock_that_is_held_is_busy_for_another_owner) {
  Door door = must_open();
  EXPECT_GT(fence_of(door.acquire({.owner = "anna"})), 0U);
  EXPECT_TRUE(is<model::Busy>(door.acquire({.owner = "ben", .request = 2})));
  EXPECT_TRUE(is<model::Released>(door.release({.owner = "anna"})));
  EXPECT_GT(fence_of(door.acquire({.owner = "ben", .request = 2})), 0U);
}

TEST_F(FileStore, locks_outlive_the_client_that_took_them) {
  const Fence first = fence_of(must_open().acquire({.owner = "anna"}));
  Door door = must_open();
  EXPECT_TRUE(is<model::Busy>(door.acquire({.owner = "ben", .request = 2})));
  EXPECT_TRUE(is<model::Released>(door.release({.owner = "anna"})));
  EXPECT_GT(fence_of(door.acquire({.owner = "ben", .request = 3})), first);
}

TEST_F(FileStore, a_fence_agreed_elsewhere_is_kept_although_nobody_holds_the_lock) {
  const Fence first = fence_of(must_open().acquire({.owner = "anna"}));
  const Fence agreed = first + 3'600'000'000;
  const model::Renew raise{owner_of("nobody"), model::RequestId{7}, 20ms, agreed};
  EXPECT_TRUE(
      is<model::NotHeld>(must_open().apply({.name = "free"}, {model::LockSpec::mutex(), raise})));
  Door door = must_open();
  EXPECT_EQ(fence_of(door.acquire({.name = "another"})), agreed + 1);
  EXPECT_EQ(fence_of(door.renew({.owner = "anna"})), first) << "of a lease that it is not about";
}

TEST_F(FileStore, a_lease_keeps_its_agreed_fence_when_the_store_is_opened_again) {
  const Fence agreed = fence_of(must_open().acquire({.owner = "anna"})) + 1000;
  const model::Renew agree{owner_of("anna"), model::RequestId{1}, 20ms, agreed};
  EXPECT_EQ(fence_of(must_open().apply({}, {model::LockSpec::mutex(), agree})), agreed);
  EXPECT_EQ(fence_of(must_open().renew({.owner = "anna"})), agreed);
}

TEST_F(FileStore, a_lease_ends_by_the_clock_of_the_machine) {
  Door door = must_open();
  fence_of(door.acquire({.owner = "anna", .ttl = 10min}));
  runtime_->pass(9min);  // on top of what really passes
  EXPECT_TRUE(is<model::Busy>(door.acquire({.owner = "ben", .request = 2})));
  runtime_->pass(1min);
  EXPECT_TRUE(is<model::Granted>(door.acquire({.owner = "ben", .request = 2})));
}

TEST_F(FileStore, a_bad_command_is_refused_before_the_store_is_touched) {
  Door door = must_open();
  const auto refused = door.acquire({.ttl = 0s});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::bad_input);
}

TEST_F(FileStore, two_clients_of_one_process_share_one_environment) {
  const EnvironmentOptions options{.path = folder_.path(), .boot_id = std::string(this_boot)};
  const auto one = backends::file::shared_environment(options, *runtime_);
  EnvironmentOptions detour = options;
  detour.path += "/../" + std::filesystem::path(folder_.path()).filename().string() + "/.";
  const auto other = backends::file::shared_environment(detour, *runtime_);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(*one, *other);
}

TEST_F(FileStore, names_of_every_length_up_to_the_limit_are_kept_apart) {
  Door door = must_open();
  std::set<Fence> fences;
  for (const std::size_t length : {1UL, 479UL, 480UL, 481UL, 500UL, 511UL, 512UL}) {
    for (const char last : {'a', 'b'}) {
      const std::string name = std::string(length - 1, 'n') + last;
      const Ask ask{.name = name, .request = fences.size() + 1};
      fences.insert(fence_of(door.acquire(ask)));
      EXPECT_TRUE(is<model::Busy>(door.acquire({.name = name, .owner = "ben", .request = 99})));
    }
  }
  EXPECT_EQ(fences.size(), 14U);
  EXPECT_EQ(door.list()->locks.size(), 14U);
}

TEST_F(FileStore, a_listing_comes_page_by_page_and_leaves_nothing_out) {
  Door door = must_open();
  std::set<std::string> names;
  for (int i = 0; i < 25; ++i) names.insert("list:" + std::string(i * 20, 'x') + std::to_string(i));
  names.insert("other");
  for (const auto& name : names) fence_of(door.acquire({.name = name}));
  std::vector<std::string> seen;
  store::ListRequest request{.prefix = "list:", .limit = 10};
  std::size_t pages = 0;
  do {
    const auto page = door.list(request);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_LE(page->locks.size(), 10U);
    for (const auto& lock : page->locks) seen.push_back(lock.name);
    request.cursor = page->next;
    ++pages;
  } while (!request.cursor.empty());
  names.erase("other");
  EXPECT_EQ(pages, 3U);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), names);
  EXPECT_EQ(seen.size(), names.size());
}

TEST_F(FileStore, a_prefix_longer_than_a_key_still_finds_its_names) {
  Door door = must_open();
  const std::string prefix(490, 'p');
  fence_of(door.acquire({.name = prefix + "1"}));
  fence_of(door.acquire({.name = prefix + "2"}));
  fence_of(door.acquire({.name = std::string(485, 'p') + "other"}));
  const auto page = door.list({.prefix = prefix});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->locks.size(), 2U);
}

TEST_F(FileStore, a_listing_shows_holders_and_leaves_out_what_has_ended) {
  Door door = must_open();
  const Fence fence = fence_of(door.acquire({.name = "long", .ttl = 60s}));
  fence_of(door.acquire({.name = "short", .ttl = 1s}));
  runtime_->pass(2s);
  const auto page = door.list();
  ASSERT_TRUE(page);
  ASSERT_EQ(page->locks.size(), 1U);
  EXPECT_EQ(page->locks[0].name, "long");
  EXPECT_EQ(page->locks[0].holders.at(0).fence, fence);
  EXPECT_EQ(page->next, "");
}

TEST_F(FileStore, a_cursor_or_limit_that_cannot_be_is_refused) {
  Door door = must_open();
  EXPECT_EQ(door.list({.cursor = "\x01"}).error().code, Errc::bad_input);
  EXPECT_EQ(door.list({.limit = 0}).error().code, Errc::bad_input);
  EXPECT_EQ(door.list({.limit = 1001}).error().code, Errc::bad_input);
}

TEST_F(FileStore, leases_that_nobody_asks_for_again_do_not_fill_the_store) {
  // Room for a few hundred records; ten thousand come and go.
  Door door = must_open({.initial_bytes = 256 << 10, .max_bytes = 256 << 10});
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const std::string name = "crashed:" + std::to_string(i);
    const auto outcome = door.acquire({.name = name, .request = i + 1, .ttl = 20ms});
    ASSERT_TRUE(outcome) << i << ": " << outcome.error().message;
    runtime_->pass(1ms);
  }
}

TEST_F(FileStore, looking_at_a_lock_changes_nothing) {
  Door door = must_open();
  fence_of(door.acquire());
  const std::string before = content_of(folder_.file("locks-" + std::string(this_boot) + ".mdb"));
  EXPECT_TRUE(is<model::Seen>(door.inspect()));
  EXPECT_TRUE(is<model::Seen>(door.inspect({.name = "never used"})));
  EXPECT_TRUE(is<model::Busy>(door.acquire({.owner = "ben", .request = 2})));
  EXPECT_EQ(content_of(folder_.file("locks-" + std::string(this_boot) + ".mdb")), before);
}

TEST_F(FileStore, steps_of_many_threads_go_through_the_worker_and_all_are_answered) {
  runtime_->pretend_to_be_the_own_thread();
  Door door = must_open();
  std::vector<std::future<Fence>> fences;
  for (std::uint64_t i = 0; i < 8; ++i) {
    fences.push_back(std::async(std::launch::async, [&door, i] {
      const std::string name = "thread:" + std::to_string(i);
      return fence_of(door.acquire({.name = name, .request = i + 1}));
    }));
  }
  std::set<Fence> seen;
  for (auto& fence : fences) seen.insert(fence.get());
  EXPECT_EQ(seen.size(), 8U);
  EXPECT_EQ(door.list()->locks.size(), 8U);
}

TEST_F(FileStore, the_thread_of_the_runtime_never_waits_for_another_process) {
  const auto runtime = runtime::shared_runtime();
  auto environment = backends::file::shared_environment(
      {.path = folder_.path(), .boot_id = std::string(this_boot)}, *runtime);
  ASSERT_TRUE(environment);
  const StorePtr store = backends::file::make_file_store(*environment, runtime);
  auto inside = (*environment)->enter(*runtime, {.deadline = runtime->now() + 60s});
  ASSERT_TRUE(inside);
  std::promise<Result<store::Reply>> reply;
  std::promise<void> returned;
  runtime->post([&] {
    auto request = request_for({}, acquire_command({}), *runtime);
    runtime::spawn(store->apply(std::move(request)),
                   [&](Result<store::Reply>&& value) { reply.set_value(std::move(value)); });
    returned.set_value();
  });
  auto answered = reply.get_future();
  EXPECT_EQ(returned.get_future().wait_for(60s), std::future_status::ready);
  EXPECT_EQ(answered.wait_for(20ms), std::future_status::timeout);
  inside->unlock();
  EXPECT_GT(fence_of(outcome_of(answered.get())), 0U);
}

TEST_F(FileStore, describes_itself_as_its_url) {
  EXPECT_EQ(must_open().store().describe(), "file:" + folder_.path());
  const TemporaryFolder other;
  EXPECT_EQ(must_open({.path = other.path(), .durable = true}).store().describe(),
            "file:" + other.path() + "?durable=yes");
}

}  // namespace

}  // namespace holdfast::test
