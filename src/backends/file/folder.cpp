// SPDX-License-Identifier: Apache-2.0
#include "backends/file/folder.hpp"

#include "backends/file/file_system.hpp"
#include "backends/file/places.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>

namespace holdfast::backends::file {

namespace {

std::string message_of(int error) { return std::generic_category().message(error); }

}  // namespace

Result<Folder> Folder::open(const std::string& path) {
  Folder folder;
  folder.path_ = path;
  if (path.empty() || path.find('\0') != std::string::npos) {
    return folder.failure(Errc::bad_input, "path: must be the path of a folder");
  }
  std::error_code relative;
  folder.path_ = std::filesystem::absolute(path, relative).lexically_normal();
  if (relative) return folder.failure_of("the current folder", relative.value());
  if (mkdir(folder.path_.c_str(), 0700) != 0 && errno != EEXIST) {
    return folder.failure_of("the folder cannot be made", errno);
  }
  folder.fd_ = Descriptor(::open(folder.path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.fd_ && errno == ENOTDIR) {
    return folder.failure(Errc::bad_input, "path: must be a folder, and this is a file");
  }
  if (!folder.fd_) return folder.failure_of("the folder cannot be opened", errno);
  if (auto checked = folder.look(); !checked) return std::unexpected(checked.error());
  return folder;
}

Result<void> Folder::look() {
  struct stat found{};
  struct statfs system{};
  if (fstat(fd(), &found) != 0 || fstatfs(fd(), &system) != 0) {
    return failure_of("the folder cannot be looked at", errno);
  }
  if (found.st_uid != geteuid()) {
    return failure(Errc::bad_input,
                   fmt::format("path: the folder must belong to the user of this process ({}), and "
                               "it belongs to user {}",
                               geteuid(), found.st_uid));
  }
  if ((found.st_mode & 077) != 0) {
    return failure(Errc::bad_input,
                   fmt::format("path: the folder must be closed to other users (mode 0700), and it "
                               "has mode {:04o}",
                               found.st_mode & 07777));
  }
  file_system_ = static_cast<unsigned long>(system.f_type);
  const FileSystem kind = file_system_of(file_system_);
  if (!kind.is_local) {
    return failure(Errc::unsupported,
                   fmt::format("path: the folder must be on a file system that this machine has "
                               "alone (ext4, XFS, Btrfs, ZFS, tmpfs and the like), and it is on {}",
                               kind.name));
  }
  identity_ = {found.st_dev, found.st_ino};
  keeps_allocated_space_ = kind.keeps_allocated_space;
  return {};
}

std::string Folder::path_of(std::string_view name) const {
  return fmt::format("/proc/self/fd/{}/{}", fd(), name);
}

bool Folder::has(const std::string& name) const {
  return faccessat(fd(), name.c_str(), F_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0;
}

Result<void> Folder::lock(std::chrono::milliseconds patience) const {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (flock(fd(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return failure_of("the folder cannot be locked", errno);
    if (std::chrono::steady_clock::now() >= deadline) {
      return failure(Errc::unavailable, "another process is setting the store up and does not end");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

void Folder::unlock() const noexcept { flock(fd(), LOCK_UN); }

int Folder::allocate(int fd, std::size_t bytes) {
  if (!within_file_size_limit(bytes)) return EFBIG;
  return posix_fallocate(fd, 0, static_cast<off_t>(bytes));
}

void Folder::remove_files_of_other_boots(std::string_view boot_id) const {
  // A descriptor of its own: reading a folder moves the position of the open file.
  const int reading = openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (reading < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(reading), &closedir);
  if (!entries) {
    close(reading);
    return;
  }
  while (const dirent* entry = readdir(entries.get())) {
    if (is_of_another_boot(entry->d_name, boot_id)) unlinkat(fd(), entry->d_name, 0);
  }
}

std::unexpected<Error> Folder::failure(Errc code, std::string_view what) const {
  return fail(code, fmt::format("file:{}: {}", path_, what));
}

std::unexpected<Error> Folder::failure_of(std::string_view call, int error) const {
  return failure(Errc::unavailable, fmt::format("{}: {}", call, message_of(error)));
}

bool within_file_size_limit(std::size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return true;
  return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

}  // namespace holdfast::backends::file
