// SPDX-License-Identifier: Apache-2.0
#include "server/auth/locked_file.hpp"

#include "text/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace holdfast::server {
namespace {

using Clock = std::chrono::steady_clock;

using text::refuse_file;

bool lock_until(int fd, Clock::time_point deadline) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (Clock::now() >= deadline) return errno = EWOULDBLOCK, false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// Whether the path still leads to the open file: another may have replaced it before we locked it.
bool is_current(int fd, const std::string& path) {
  struct stat open{};
  struct stat named{};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool copy_owner_and_mode(int from, int to) {
  struct stat file{};
  return ::fstat(from, &file) == 0 && text::give_owner_and_mode(file, to);
}

// The new name survives a power failure only with its folder.
void sync_folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const auto folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

Result<LockedFile> LockedFile::open(const std::string& path, IfMissing if_missing,
                                    std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  const int make = if_missing == IfMissing::make ? O_CREAT : 0;
  while (true) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | make, 0600);
    if (fd < 0) return refuse_file(Errc::bad_input, path, "cannot be opened", errno);
    LockedFile file(text::without_links(path), fd);
    if (!lock_until(fd, deadline)) {
      if (errno != EWOULDBLOCK)
        return refuse_file(Errc::unavailable, path, "cannot be locked", errno);
      return fail(Errc::unavailable, fmt::format("{}: another process is changing it", path));
    }
    if (is_current(fd, path)) return file;
  }
}

LockedFile::~LockedFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> LockedFile::replace(std::string_view text) const {
  auto fresh = path_ + ".XXXXXX";
  const int fd = ::mkostemp(fresh.data(), O_CLOEXEC);
  if (fd < 0) return refuse_file(Errc::unavailable, path_, "cannot be written beside it", errno);
  const bool is_written = write_all(fd, text) && copy_owner_and_mode(fd_, fd) && ::fsync(fd) == 0;
  int error = is_written ? 0 : errno;
  ::close(fd);
  if (is_written && ::rename(fresh.c_str(), path_.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(fresh.c_str());
    return refuse_file(Errc::unavailable, path_, "cannot be written", error);
  }
  sync_folder_of(path_);
  return {};
}

}  // namespace holdfast::server
