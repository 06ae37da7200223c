// SPDX-License-Identifier: Apache-2.0
#include "backends/file/file_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdfast::backends::file {

namespace {

struct KnownFileSystem {
  unsigned long type;
  const char* name;
};

// The numbers are those of the kernel's linux/magic.h and of the file systems' own sources.
//
// overlayfs is local whatever lies below: the kernel lets one mount alone use an upper folder.
constexpr std::array local_file_systems{
    KnownFileSystem{0x0000EF53, "ext4"},  // also ext2 and ext3
    KnownFileSystem{0x58465342, "XFS"},      KnownFileSystem{0x01021994, "tmpfs"},
    KnownFileSystem{0x858458F6, "ramfs"},    KnownFileSystem{0x9123683E, "Btrfs"},
    KnownFileSystem{0xF2F52010, "F2FS"},     KnownFileSystem{0x2FC12FC1, "ZFS"},
    KnownFileSystem{0xCA451A4E, "bcachefs"}, KnownFileSystem{0x794C7630, "overlayfs"},
    KnownFileSystem{0x3153464A, "JFS"},      KnownFileSystem{0x52654973, "ReiserFS"},
    KnownFileSystem{0x00003434, "NILFS2"},
};

// For the sentence. Shared by machines, or by the machine and its guests, or without users and
// modes, or nobody can know (FUSE and eCryptfs may lie on anything).
constexpr std::array refused_file_systems{
    KnownFileSystem{0x00006969, "NFS"},      KnownFileSystem{0xFF534D42, "SMB"},
    KnownFileSystem{0xFE534D42, "SMB"},      KnownFileSystem{0x0000517B, "SMB"},
    KnownFileSystem{0x5346414F, "AFS"},      KnownFileSystem{0x6B414653, "AFS"},
    KnownFileSystem{0x73757245, "Coda"},     KnownFileSystem{0x00C36400, "Ceph"},
    KnownFileSystem{0x01021997, "9p"},       KnownFileSystem{0x65735546, "FUSE"},
    KnownFileSystem{0x0BD00BD0, "Lustre"},   KnownFileSystem{0x47504653, "GPFS"},
    KnownFileSystem{0x19830326, "BeeGFS"},   KnownFileSystem{0x7461636F, "OCFS2"},
    KnownFileSystem{0x01161970, "GFS2"},     KnownFileSystem{0x20030528, "OrangeFS"},
    KnownFileSystem{0xAAD7AAEA, "PanFS"},    KnownFileSystem{0x61636673, "ACFS"},
    KnownFileSystem{0xA501FCF5, "VxFS"},     KnownFileSystem{0x786F4256, "vboxsf"},
    KnownFileSystem{0xBACBACBC, "vmhgfs"},   KnownFileSystem{0x7C7C6673, "prl_fs"},
    KnownFileSystem{0x0000F15F, "eCryptfs"}, KnownFileSystem{0x61756673, "aufs"},
    KnownFileSystem{0x00004D44, "FAT"},      KnownFileSystem{0x2011BAB0, "exFAT"},
    KnownFileSystem{0x7366746E, "NTFS"},     KnownFileSystem{0x5346544E, "NTFS"},
};

// Where posix_fallocate() reserves blocks that later writes use in place.
bool keeps_space(unsigned long type) {
  constexpr std::array keeping{0x0000EF53UL, 0x58465342UL, 0x01021994UL};
  return std::ranges::find(keeping, type) != keeping.end();
}

}  // namespace

FileSystem file_system_of(unsigned long type) {
  const auto local = std::ranges::find(local_file_systems, type, &KnownFileSystem::type);
  if (local != local_file_systems.end()) {
    return {.name = local->name, .is_local = true, .keeps_allocated_space = keeps_space(type)};
  }
  const auto refused = std::ranges::find(refused_file_systems, type, &KnownFileSystem::type);
  if (refused != refused_file_systems.end()) return {.name = refused->name};
  return {.name = fmt::format("a file system of the unknown type 0x{:x}", type)};
}

}  // namespace holdfast::backends::file
