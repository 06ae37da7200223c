// SPDX-License-Identifier: Apache-2.0
#include "cli/n8n/files.hpp"

#include "cli/console.hpp"
#include "text/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace holdfast::cli {
namespace {

using text::refuse_file;

std::unexpected<Error> refuse_existing(const std::string& path) {
  return fail(Errc::bad_input, fmt::format("{} exists already; nothing was written", path));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

mode_t mode_for_new_files() {
  const auto mask = ::umask(0);
  ::umask(mask);
  return 0666U & ~mask;
}

bool set_owner_and_mode(int fd, const std::string& path) {
  struct stat old{};
  if (::stat(path.c_str(), &old) != 0) return ::fchmod(fd, mode_for_new_files()) == 0;
  return text::give_owner_and_mode(old, fd);
}

}  // namespace

Result<std::string> read_file(const std::string& path, const FileLimit& limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about{};
  if (file.get() < 0 || ::fstat(file.get(), &about) != 0) {
    return refuse_file(Errc::bad_input, path, "cannot be read", errno);
  }
  if (!S_ISREG(about.st_mode)) {
    return fail(Errc::bad_input, fmt::format("{}: must be a regular file", path));
  }
  std::string text;
  char block[64 * 1024];
  while (true) {
    const auto read = ::read(file.get(), block, sizeof block);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return refuse_file(Errc::bad_input, path, "cannot be read", errno);
    if (read == 0) return text;
    text.append(block, static_cast<std::size_t>(read));
    if (text.size() > limit.bytes) {
      return fail(Errc::limit_reached,
                  fmt::format("{}: has more than {} bytes ({})", path, limit.bytes, limit.name));
    }
  }
}

FileBatch::~FileBatch() {
  for (const auto& entry : entries_) {
    if (!entry.fresh.empty()) ::unlink(entry.fresh.c_str());
    if (!entry.backup.empty()) ::unlink(entry.backup.c_str());
  }
}

Result<void> FileBatch::add(const std::string& path, std::string_view text, IfThere if_there) {
  if (if_there == IfThere::refuse && ::access(path.c_str(), F_OK) == 0) {
    return refuse_existing(path);
  }
  Entry entry{.path = text::without_links(path), .fresh = {}, .backup = {}, .if_there = if_there};
  auto fresh = entry.path + ".XXXXXX";
  const Descriptor file(::mkostemp(fresh.data(), O_CLOEXEC));
  if (file.get() < 0) return refuse_file(Errc::bad_input, path, "cannot be written", errno);
  entry.fresh = std::move(fresh);
  entries_.push_back(std::move(entry));
  const auto& added = entries_.back();
  if (const int error = write_all(file.get(), text); error != 0) {
    return refuse_file(Errc::unavailable, path, "cannot be written", error);
  }
  if (!set_owner_and_mode(file.get(), added.path) || ::fsync(file.get()) != 0) {
    return refuse_file(Errc::unavailable, path, "cannot be written", errno);
  }
  return {};
}

Result<void> FileBatch::put(Entry& entry) {
  if (entry.if_there == IfThere::refuse) {
    // Unlike a rename, a link does not replace what somebody else has just put there.
    if (::link(entry.fresh.c_str(), entry.path.c_str()) != 0) {
      if (errno == EEXIST) return refuse_existing(entry.path);
      return refuse_file(Errc::unavailable, entry.path, "cannot be written", errno);
    }
    ::unlink(std::exchange(entry.fresh, {}).c_str());
    return {};
  }
  const auto backup = entry.fresh + ".old";
  if (::link(entry.path.c_str(), backup.c_str()) == 0) entry.backup = backup;
  if (::rename(entry.fresh.c_str(), entry.path.c_str()) != 0) {
    return refuse_file(Errc::unavailable, entry.path, "cannot be written", errno);
  }
  entry.fresh.clear();
  return {};
}

void FileBatch::take_back(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    auto& entry = entries_[i];
    if (entry.backup.empty()) {
      ::unlink(entry.path.c_str());
    } else if (::rename(entry.backup.c_str(), entry.path.c_str()) == 0) {
      entry.backup.clear();
    }
  }
}

Result<void> FileBatch::commit() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (auto done = put(entries_[i]); !done) {
      take_back(i);
      return done;
    }
  }
  return {};
}

}  // namespace holdfast::cli
