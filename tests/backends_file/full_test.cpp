// SPDX-License-Identifier: Apache-2.0
#include "backends_file/child_process.hpp"
#include "backends_file/file_fixture.hpp"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

namespace holdfast::test {

namespace {

using ::testing::HasSubstr;

class Full : public FileStoreTest {
 protected:
  // Takes locks until the store refuses one; says how many there are.
  std::uint64_t fill(Door& door, Error& refused) {
    for (std::uint64_t i = 0; i < 1'000'000; ++i) {
      const std::string name = "fill:" + std::to_string(i) + std::string(200, 'x');
      const auto outcome = door.acquire({.name = name, .request = i + 1, .ttl = 1h});
      if (outcome) continue;
      refused = outcome.error();
      return i;
    }
    return 0;
  }
  void expect_intact(Door& door, std::uint64_t count) {
    std::uint64_t seen = 0;
    store::ListRequest request{.limit = 1000};
    do {
      const auto page = door.list(request);
      ASSERT_TRUE(page) << page.error().message;
      seen += page->locks.size();
      request.cursor = page->next;
    } while (!request.cursor.empty());
    EXPECT_EQ(seen, count);
    const std::string name = "fill:0" + std::string(200, 'x');
    EXPECT_TRUE(is<model::Released>(door.release({.name = name, .request = 1})));
    EXPECT_TRUE(is<model::Granted>(door.acquire({.name = name, .owner = "ben", .request = 9})));
  }
};

TEST_F(Full, a_store_at_its_limit_refuses_and_changes_nothing) {
  for (const bool mapped : {true, false}) {
    const TemporaryFolder folder;
    Door door = must_open({.path = folder.path(),
                           .initial_bytes = 64 << 10,
                           .max_bytes = 256 << 10,
                           .mapped_writes = mapped});
    Error refused;
    const auto count = fill(door, refused);
    EXPECT_GT(count, 100U);
    EXPECT_EQ(refused.code, Errc::unavailable);
    EXPECT_THAT(refused.message, HasSubstr("max_store_bytes"));
    expect_intact(door, count);
  }
}

TEST_F(Full, a_store_grows_as_long_as_it_may_and_others_follow) {
  const EnvironmentOptions options{
      .path = folder_.path(), .boot_id = std::string(this_boot), .initial_bytes = 64 << 10};
  // Two environments, as two processes have them.
  auto opened = [&] {
    auto folder = backends::file::Folder::open(folder_.path());
    auto environment = Environment::open(options, std::move(*folder), *runtime_);
    return Door(backends::file::make_file_store(std::move(*environment), runtime_), runtime_);
  };
  Door one = opened();
  Door other = opened();
  for (std::uint64_t i = 0; i < 4000; ++i) {
    Door& door = i % 100 < 50 ? one : other;
    const std::string name = "grow:" + std::to_string(i);
    ASSERT_GT(fence_of(door.acquire({.name = name, .request = i + 1})), 0U);
  }
  EXPECT_TRUE(is<model::Busy>(one.acquire({.name = "grow:3999", .owner = "ben", .request = 1})));
  EXPECT_GT(std::filesystem::file_size(folder_.file("locks-" + std::string(this_boot) + ".mdb")),
            256U << 10);
}

TEST_F(Full, a_limit_on_file_sizes_is_an_error_and_not_a_signal) {
  ChildProcess child([this] {
    const rlimit limit{3 << 19, 3 << 19};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    auto door = open({.initial_bytes = 64 << 10});
    if (!door) return 3;
    Error refused;
    const auto count = fill(*door, refused);
    if (refused.code != Errc::unavailable) return 4;
    expect_intact(*door, count);
    return HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(child.join(), 0);
}

TEST_F(Full, a_limit_below_what_a_new_store_needs_is_an_error_too) {
  for (const rlim_t bytes : {0, 600 << 10}) {
    ChildProcess child([this, bytes] {
      const rlimit limit{bytes, bytes};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
      const auto door = open();
      return !door && door.error().code == Errc::unavailable ? 0 : 1;
    });
    EXPECT_EQ(child.join(), 0);
  }
}

TEST_F(Full, a_file_that_is_already_over_the_limit_is_not_opened) {
  must_open({.initial_bytes = 1 << 20});
  ChildProcess child([this] {
    const rlimit limit{600 << 10, 600 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const auto door = open();
    return !door && door.error().code == Errc::unavailable ? 0 : 1;
  });
  EXPECT_EQ(child.join(), 0);
}

// In a namespace of its own, so that the mount ends with the child.
TEST_F(Full, a_full_disk_refuses_and_changes_nothing) {
  for (const bool mapped : {true, false}) {
    ChildProcess child([this, mapped] {
      const bool mounted =
          unshare(CLONE_NEWNS) == 0 &&
          mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
          mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=2m,mode=0700") == 0;
      if (!mounted) return 77;
      auto door = open({.initial_bytes = 64 << 10, .mapped_writes = mapped});
      if (!door) return 3;
      Error refused;
      const auto count = fill(*door, refused);
      if (refused.code != Errc::unavailable || count == 0) return 4;
      expect_intact(*door, count);
      return HasFailure() ? 1 : 0;
    });
    const int result = child.join();
    if (result == 77) GTEST_SKIP() << "no right to mount";
    EXPECT_EQ(result, 0);
  }
}

TEST_F(Full, a_disk_too_small_for_a_new_store_is_unavailable_and_leaves_no_rubbish) {
  ChildProcess child([this] {
    const bool mounted =
        unshare(CLONE_NEWNS) == 0 &&
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=512k,mode=0700") == 0;
    if (!mounted) return 77;
    for (int i = 0; i < 2; ++i) {
      const auto door = open();
      if (door || door.error().code != Errc::unavailable) return 1;
    }
    const auto unfinished = folder_.file("locks-" + std::string(this_boot) + ".mdb.tmp");
    return std::filesystem::exists(unfinished) ? 1 : 0;
  });
  const int result = child.join();
  if (result == 77) GTEST_SKIP() << "no right to mount";
  EXPECT_EQ(result, 0);
}

}  // namespace

}  // namespace holdfast::test
