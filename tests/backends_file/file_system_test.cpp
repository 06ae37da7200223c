// SPDX-License-Identifier: Apache-2.0
#include "backends/file/file_system.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace holdfast::test {

namespace {

TEST(FileSystems, that_one_machine_has_alone_are_allowed) {
  for (const auto& [type, name] : {std::pair{0xEF53UL, "ext4"},
                                   {0x58465342UL, "XFS"},
                                   {0x01021994UL, "tmpfs"},
                                   {0x858458F6UL, "ramfs"},
                                   {0x9123683EUL, "Btrfs"},
                                   {0xF2F52010UL, "F2FS"},
                                   {0x2FC12FC1UL, "ZFS"},
                                   {0xCA451A4EUL, "bcachefs"},
                                   {0x794C7630UL, "overlayfs"}}) {
    const auto found = backends::file::file_system_of(type);
    EXPECT_TRUE(found.is_local) << name;
    EXPECT_EQ(found.name, name);
  }
}

TEST(FileSystems, that_others_may_share_are_refused_by_name) {
  for (const auto& [type, name] : {std::pair{0x6969UL, "NFS"},
                                   {0xFF534D42UL, "SMB"},
                                   {0xFE534D42UL, "SMB"},
                                   {0x00C36400UL, "Ceph"},
                                   {0x01021997UL, "9p"},
                                   {0x65735546UL, "FUSE"},
                                   {0x0BD00BD0UL, "Lustre"},
                                   {0x47504653UL, "GPFS"},
                                   {0x19830326UL, "BeeGFS"},
                                   {0x7461636FUL, "OCFS2"},
                                   {0x01161970UL, "GFS2"},
                                   {0x20030528UL, "OrangeFS"},
                                   {0xAAD7AAEAUL, "PanFS"},
                                   {0x786F4256UL, "vboxsf"},
                                   {0xF15FUL, "eCryptfs"}}) {
    const auto found = backends::file::file_system_of(type);
    EXPECT_FALSE(found.is_local) << name;
    EXPECT_EQ(found.name, name);
  }
}

TEST(FileSystems, that_nobody_knows_are_refused_by_number) {
  const auto found = backends::file::file_system_of(0x12345678);
  EXPECT_FALSE(found.is_local);
  EXPECT_THAT(found.name, ::testing::HasSubstr("0x12345678"));
  EXPECT_FALSE(backends::file::file_system_of(0).is_local);
}

TEST(FileSystems, that_keep_allocated_space_are_those_that_do_not_copy_on_write) {
  for (const unsigned long type : {0xEF53UL, 0x58465342UL, 0x01021994UL}) {
    EXPECT_TRUE(backends::file::file_system_of(type).keeps_allocated_space);
  }
  for (const unsigned long type : {0x9123683EUL, 0x2FC12FC1UL, 0x794C7630UL, 0x6969UL}) {
    EXPECT_FALSE(backends::file::file_system_of(type).keeps_allocated_space);
  }
}

}  // namespace

}  // namespace holdfast::test
