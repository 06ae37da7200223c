// SPDX-License-Identifier: Apache-2.0
#include "backends/file/places.hpp"
#include "backends/file/record.hpp"
#include "backends_file/child_process.hpp"
#include "backends_file/file_fixture.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <pwd.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

namespace holdfast::test {

namespace {

using ::testing::HasSubstr;

class Opening : public FileStoreTest {
 protected:
  std::string database() const { return folder_.file("locks-" + std::string(this_boot) + ".mdb"); }
  std::string wake() const { return folder_.file("wake-" + std::string(this_boot)); }

  // Refused with this in the sentence, and the file is byte for byte what it was.
  void expect_refused(const std::string& file, const std::string& because) {
    const std::string before = content_of(file);
    const auto door = open();
    ASSERT_FALSE(door);
    EXPECT_EQ(door.error().code, Errc::unavailable);
    EXPECT_THAT(door.error().message, HasSubstr(because));
    EXPECT_THAT(door.error().message, HasSubstr(folder_.path()));
    EXPECT_EQ(content_of(file), before);
  }
  void overwrite(const std::string& file, std::streamoff at, std::string_view bytes) {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(at);
    out << bytes;
  }
};

TEST_F(Opening, makes_a_folder_that_only_its_owner_can_enter) {
  const std::string path = folder_.file("new");
  ASSERT_TRUE(open({.path = path}));
  struct stat made{};
  ASSERT_EQ(stat(path.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 07777, 0700U);
}

TEST_F(Opening, a_path_that_is_a_file_is_bad_input) {
  write_file(folder_.file("file"), "precious");
  const auto door = open({.path = folder_.file("file")});
  ASSERT_FALSE(door);
  EXPECT_EQ(door.error().code, Errc::bad_input);
  EXPECT_THAT(door.error().message, HasSubstr(folder_.file("file") + ": path: must be a folder"));
  EXPECT_EQ(content_of(folder_.file("file")), "precious");
}

TEST_F(Opening, a_folder_without_a_parent_is_unavailable) {
  const auto door = open({.path = folder_.file("no/such")});
  ASSERT_FALSE(door);
  EXPECT_EQ(door.error().code, Errc::unavailable);
}

TEST_F(Opening, a_folder_that_others_can_enter_is_bad_input) {
  for (const unsigned mode : {0755U, 0710U, 0701U, 0777U}) {
    ASSERT_EQ(chmod(folder_.path().c_str(), mode), 0);
    const auto door = open();
    ASSERT_FALSE(door);
    EXPECT_EQ(door.error().code, Errc::bad_input);
    EXPECT_THAT(door.error().message, HasSubstr("mode 0700"));
  }
}

TEST_F(Opening, a_folder_of_another_user_is_bad_input) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chown(folder_.path().c_str(), 65534, 65534), 0);
  const auto door = open();
  ASSERT_FALSE(door);
  EXPECT_EQ(door.error().code, Errc::bad_input);
  EXPECT_THAT(door.error().message, HasSubstr("must belong to the user of this process"));
}

TEST_F(Opening, a_folder_that_cannot_be_written_is_unavailable) {
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.path().c_str(), 65534, 65534), 0);
  }
  ASSERT_EQ(chmod(folder_.path().c_str(), 0500), 0);
  ChildProcess child([this] {
    if (geteuid() == 0 && seteuid(65534) != 0) return 2;
    const auto door = open();
    return !door && door.error().code == Errc::unavailable ? 0 : 1;
  });
  EXPECT_EQ(child.join(), 0);
}

TEST_F(Opening, the_default_folder_depends_on_the_user_alone) {
  if (geteuid() == 0) {
    EXPECT_EQ(backends::file::default_folder().value(), "/run/holdfast");
    return;
  }
  setenv("HOME", "/nowhere", 1);
  setenv("XDG_STATE_HOME", "/nowhere", 1);
  const std::string home = getpwuid(geteuid())->pw_dir;
  EXPECT_EQ(backends::file::default_folder().value(), home + "/.local/state/holdfast");
}

TEST_F(Opening, files_of_an_earlier_boot_are_removed_and_nothing_else) {
  const std::string old(next_boot);
  for (const std::string& name : {"locks-" + old + ".mdb", "locks-" + old + ".mdb.tmp",
                                  "wake-" + old, "wake-" + old + ".tmp"}) {
    write_file(folder_.file(name), "damaged by a power cut");
  }
  for (const char* name : {"notes.txt", "locks-mine.mdb", "wake-up", "locks-.mdb"}) {
    write_file(folder_.file(name), "not ours");
  }
  ASSERT_TRUE(open());
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    left.insert(entry.path().filename());
  }
  EXPECT_EQ(left, (std::set<std::string>{"notes.txt", "locks-mine.mdb", "wake-up", "locks-.mdb",
                                         std::filesystem::path(database()).filename(),
                                         std::filesystem::path(wake()).filename()}));
}

TEST_F(Opening, a_foreign_database_is_refused_and_left_as_it_is) {
  for (const std::string& content : {std::string(), std::string("hello"), std::string(100'000, 'x'),
                                     std::string(1 << 20, '\0')}) {
    write_file(database(), content);
    expect_refused(database(), "was not made by Holdfast");
  }
}

TEST_F(Opening, a_foreign_wake_file_is_refused_and_left_as_it_is) {
  for (const std::string& content :
       {std::string(), std::string("hello"), std::string(400'000, 'x')}) {
    write_file(wake(), content);
    expect_refused(wake(), "was not made by Holdfast");
  }
}

TEST_F(Opening, a_database_that_is_cut_short_is_refused_at_any_length) {
  fence_of(must_open().acquire());
  const std::string whole = content_of(database());
  for (const std::size_t length : {std::size_t{200}, std::size_t{4096}, std::size_t{8192},
                                   std::size_t{20'000}, whole.size() - 1}) {
    write_file(database(), std::string_view(whole).substr(0, length));
    expect_refused(database(), "is damaged or cut short");
  }
  write_file(database(), whole);
  EXPECT_TRUE(is<model::Busy>(must_open().acquire({.owner = "ben", .request = 2})));
}

TEST_F(Opening, a_wake_file_that_is_cut_short_is_refused) {
  must_open();
  const std::string whole = content_of(wake());
  for (const std::size_t length : {std::size_t{24}, std::size_t{4096}, whole.size() - 1}) {
    write_file(wake(), std::string_view(whole).substr(0, length));
    expect_refused(wake(), "is damaged or cut short");
  }
}

TEST_F(Opening, a_database_whose_header_points_outside_of_it_is_refused) {
  must_open();
  constexpr std::streamoff last_page_of_first = 16 + 8 + 16 + 96;
  for (const std::streamoff page : {0, 4096}) {
    overwrite(database(), page + last_page_of_first, "\xff\xff\xff\x7f");
  }
  expect_refused(database(), "is damaged or cut short");
}

TEST_F(Opening, a_database_of_a_newer_version_is_refused) {
  must_open();
  // The number behind the magic of the meta record, wherever LMDB put its pages.
  std::string content = content_of(database());
  for (auto at = content.find("LDFASTDB"); at != std::string::npos;
       at = content.find("LDFASTDB", at + 1)) {
    overwrite(database(), static_cast<std::streamoff>(at) + 8, "\x02");
  }
  expect_refused(database(), "has format 2, and this version knows 1");
}

TEST_F(Opening, a_wake_file_of_a_newer_version_is_refused) {
  must_open();
  overwrite(wake(), 8, "\x03");
  expect_refused(wake(), "has format 3, and this version knows 2; a newer Holdfast");
}

TEST_F(Opening, a_wake_file_of_an_older_version_is_refused_while_a_process_has_it_open) {
  {
    must_open();
  }
  overwrite(wake(), 8, "\x01");
  const int used = ::open(wake().c_str(), O_RDWR | O_CLOEXEC);
  expect_refused(wake(), "has format 1, and this version knows 2; an older Holdfast uses");
  close(used);
}

TEST_F(Opening, a_wake_file_of_an_older_version_that_nobody_uses_is_replaced_and_no_lease_ends) {
  const Fence before = fence_of(must_open().acquire());
  overwrite(wake(), 8, "\x01");
  Door door = must_open();
  EXPECT_TRUE(is<model::Busy>(door.acquire({.owner = "ben", .request = 2})));
  EXPECT_TRUE(is<model::Released>(door.release()));
  EXPECT_GT(fence_of(door.acquire({.owner = "ben", .request = 2})), before);
}

TEST_F(Opening, a_folder_is_durable_or_not_but_never_both) {
  ASSERT_TRUE(open());
  const auto second = open({.durable = true});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::bad_input);
  const TemporaryFolder other;
  ASSERT_TRUE(open({.path = other.path(), .durable = true}));
  const auto third = open({.path = other.path()});
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Errc::bad_input);
  EXPECT_THAT(third.error().message, HasSubstr("durable: must be yes here"));
}

TEST_F(Opening, a_store_whose_files_were_deleted_says_so) {
  Door door = must_open();
  fence_of(door.acquire());
  std::filesystem::remove(wake());
  std::filesystem::remove(database());
  runtime_->pass(1s);
  const auto after = door.acquire({.owner = "ben", .request = 2});
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, Errc::unavailable);
  EXPECT_THAT(after.error().message, HasSubstr("its files were deleted"));
}

TEST_F(Opening, a_store_whose_files_were_deleted_has_no_clean_bill) {
  Door door = must_open();
  fence_of(door.acquire());
  EXPECT_TRUE(door.diagnose().has_value());
  std::filesystem::remove(wake());
  std::filesystem::remove(database());
  const auto found = door.diagnose();
  ASSERT_FALSE(found) << "commands look only now and then";
  EXPECT_EQ(found.error().code, Errc::unavailable);
  EXPECT_THAT(found.error().message, HasSubstr("its files were deleted"));
}

TEST_F(Opening, a_store_whose_files_were_deleted_is_opened_anew_while_an_old_client_lives) {
  Door old = must_open();
  const Fence before = fence_of(old.acquire());
  std::filesystem::remove(wake());
  std::filesystem::remove(database());
  Door anew = must_open();
  EXPECT_GT(fence_of(anew.acquire({.owner = "ben", .request = 2})), before);
  runtime_->pass(1s);
  EXPECT_EQ(old.acquire({.owner = "cleo", .request = 3}).error().code, Errc::unavailable);
  EXPECT_TRUE(is<model::Busy>(must_open().acquire({.owner = "cleo", .request = 3})))
      << "all clients from now on share the new one";
  EXPECT_TRUE(is<model::Released>(anew.release({.owner = "ben", .request = 2})));
}

TEST_F(Opening, a_store_whose_files_were_closed_behind_its_back_says_so) {
  ChildProcess child([this] {
    Door door = must_open();
    if (!door.acquire()) return 1;
    // The later of the two that are open: the one that proves that this process lives.
    int proof = -1;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
      if (target == wake()) proof = std::max(proof, std::stoi(entry.path().filename()));
    }
    if (close(proof) != 0) return 2;
    runtime_->pass(1s);
    const auto after = door.release();
    if (after || after.error().code != Errc::unavailable) return 3;
    return after.error().message.find("closed by another part") == std::string::npos ? 4 : 0;
  });
  EXPECT_EQ(child.join(), 0);
}

TEST_F(Opening, another_boot_clock_is_refused_with_its_distance) {
  ASSERT_TRUE(open({.boot_clock = 0ns}));
  ChildProcess child([this] {
    const auto door = open({.boot_clock = 100s});
    if (door || door.error().code != Errc::unsupported) return 1;
    if (door.error().message.find("is +100.000 s from that") == std::string::npos) return 2;
    return open({.boot_clock = 0ns}) ? 0 : 3;
  });
  EXPECT_EQ(child.join(), 0);
}

TEST_F(Opening, the_offset_of_the_boot_clock_is_read_from_the_kernels_text) {
  using backends::file::parse_boot_clock_offset;
  EXPECT_EQ(parse_boot_clock_offset("monotonic           7         0\n"
                                    "boottime         1000        42\n"),
            1000s + 42ns);
  EXPECT_EQ(parse_boot_clock_offset("boottime -5 900000000\n"), -5s + 900ms);
  EXPECT_EQ(parse_boot_clock_offset("monotonic 7 0\n"), std::nullopt);
  EXPECT_EQ(parse_boot_clock_offset("boottime soon"), std::nullopt);
  EXPECT_EQ(parse_boot_clock_offset(""), std::nullopt);
  EXPECT_TRUE(backends::file::boot_clock_offset());
}

TEST_F(Opening, a_folder_that_was_made_through_another_file_system_is_refused) {
  {
    must_open();
  }
  constexpr std::streamoff file_system_at = 32;
  overwrite(wake(), file_system_at, std::string_view("\x30\x76\x4c\x79", 4));
  const auto door = open();
  ASSERT_FALSE(door);
  EXPECT_EQ(door.error().code, Errc::unsupported);
  EXPECT_THAT(door.error().message, HasSubstr("made the store through overlayfs"));
}

TEST_F(Opening, programs_started_by_ours_inherit_no_file_of_the_store) {
  Door door = must_open();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (!target.starts_with(folder_.path())) continue;
    EXPECT_TRUE(fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC) << target;
  }
}

TEST_F(Opening, a_record_under_another_name_is_never_taken_for_ours) {
  const std::string one(512, 'a');
  const backends::file::RecordKey key(model::Machine::lock, one);
  std::string value = "state";
  backends::file::make_value(std::string(511, 'a') + "b", value);
  const auto record = backends::file::parse_record(key.bytes(), value);
  ASSERT_TRUE(record);
  EXPECT_NE(record->name, one);
  EXPECT_EQ(record->state, "state");
}

}  // namespace

}  // namespace holdfast::test
