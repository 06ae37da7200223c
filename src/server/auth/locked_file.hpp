// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::server {

// A small file that is replaced as a whole, under flock, so that of two who change it none loses
// what the other did.
class LockedFile {
 public:
  enum class IfMissing { refuse, make };

  // Makes it with mode 0600. Errors: bad_input if it cannot be opened, unavailable if another holds
  // it for longer than the patience.
  static Result<LockedFile> open(const std::string& path, IfMissing if_missing,
                                 std::chrono::milliseconds patience);
  LockedFile(LockedFile&& other) noexcept
      : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
  LockedFile& operator=(LockedFile&&) = delete;
  ~LockedFile();

  int fd() const { return fd_; }  // for reading

  // Puts a new file with this text, and with the owner and mode of the old one, in its place. Once.
  // Errors: unavailable, and then the old one is still there.
  Result<void> replace(std::string_view text) const;

 private:
  LockedFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;  // behind all links
  int fd_;
};

}  // namespace holdfast::server
