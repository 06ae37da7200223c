// SPDX-License-Identifier: Apache-2.0
#include "server/audit/audit_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace holdfast::server {
namespace {

constexpr std::uint64_t max_write_bytes = 64 * 1024;

std::string reason(int error) { return std::generic_category().message(error); }

FileHandle open_file(const std::string& path, int flags) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is how open is declared.
  return FileHandle(::open(path.c_str(), flags | O_CLOEXEC, 0600));
}

std::uint64_t size_of(const FileHandle& file) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

bool ends_in_a_line(const std::string& path, std::uint64_t size) {
  if (size == 0) return false;
  const auto file = open_file(path, O_RDONLY);
  char last = '\n';
  if (pread(file.get(), &last, 1, static_cast<off_t>(size - 1)) != 1) return false;
  return last != '\n';
}

}  // namespace

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  if (this == &other) return *this;
  if (fd_ >= 0) ::close(fd_);
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

FileHandle::~FileHandle() {
  if (fd_ >= 0) ::close(fd_);
}

std::string AuditFiles::path(std::uint32_t number) const {
  return number == 0 ? options_.file : fmt::format("{}.{}", options_.file, number);
}

Result<void> AuditFiles::open() {
  file_ = open_file(path(0), O_WRONLY | O_APPEND | O_CREAT);
  if (!file_) {
    return fail(Errc::unavailable,
                fmt::format("cannot open the audit log {}: {}", path(0), reason(errno)));
  }
  size_ = size_of(file_);
  in_line_ = was_torn_ = ends_in_a_line(path(0), size_);
  return {};
}

bool AuditFiles::is_full(std::size_t bytes) const {
  return size_ > 0 && size_ + bytes > options_.max_file_bytes;
}

Result<void> AuditFiles::rotate() {
  int error = 0;
  for (auto number = options_.kept_files; number > 0; --number) {
    const auto from = path(number - 1);
    if (std::rename(from.c_str(), path(number).c_str()) != 0 && errno != ENOENT) error = errno;
  }
  if (options_.kept_files == 0 && ::unlink(path(0).c_str()) != 0) error = errno;
  if (auto opened = open(); !opened) return opened;
  if (error == 0) return {};
  return fail(Errc::unavailable, fmt::format("cannot rotate {}: {}", path(0), reason(error)));
}

std::size_t AuditFiles::count_fitting(std::span<const std::string> lines) const {
  // A file that is too long already could not be rotated.
  const auto room = size_ < options_.max_file_bytes
                        ? std::min<std::uint64_t>(options_.max_file_bytes - size_, max_write_bytes)
                        : max_write_bytes;
  std::size_t count = 0;
  std::uint64_t bytes = in_line_ ? 1 : 0;
  for (const auto& line : lines) {
    bytes += line.size() + 1;
    if (bytes > room) break;
    ++count;
  }
  return std::max<std::size_t>(count, 1);
}

AuditFiles::Written AuditFiles::write(std::span<const std::string> lines) {
  size_ = size_of(file_);  // somebody else may have cut it
  std::string bytes = in_line_ ? "\n" : "";
  std::vector<std::size_t> ends;
  for (const auto& line : lines) {
    bytes += line;
    bytes += '\n';
    ends.push_back(bytes.size());
  }
  std::size_t done = 0;
  int error = 0;
  while (done < bytes.size() && error == 0) {
    const auto count = ::write(file_.get(), bytes.data() + done, bytes.size() - done);
    if (count >= 0) done += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) error = errno;
  }
  const auto whole = std::ranges::upper_bound(ends, done) - ends.begin();
  const auto good = whole == 0 ? 0 : ends[static_cast<std::size_t>(whole) - 1];
  // A line cut short by a full disk is taken back; where that fails too, it is left behind.
  const bool took_back =
      done > good && ftruncate(file_.get(), static_cast<off_t>(size_ + good)) == 0;
  size_ += took_back ? good : done;
  if (done > 0) in_line_ = took_back ? in_line_ && good == 0 : done != good;
  return {.lines = static_cast<std::size_t>(whole), .trouble = error == 0 ? "" : reason(error)};
}

std::vector<ReadableFile> AuditFiles::readable() const {
  std::vector<ReadableFile> files;
  for (std::uint32_t number = 0; number <= options_.kept_files; ++number) {
    auto file = open_file(path(number), O_RDONLY);
    if (!file) continue;
    const auto size = size_of(file);
    if (size > 0) files.push_back({std::move(file), size});
  }
  return files;
}

}  // namespace holdfast::server
