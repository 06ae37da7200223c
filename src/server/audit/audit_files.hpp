// SPDX-License-Identifier: Apache-2.0
//
// The files of an audit log: FILE is written, FILE.1 is the one before it, and so on. Whole lines
// only, as far as the disk allows.
#pragma once

#include <holdfast/error.hpp>

#include "server/options.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::server {

class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int fd) : fd_(fd) {}
  FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// A file as far as it was written when it was opened.
struct ReadableFile {
  FileHandle file;
  std::uint64_t size = 0;
};

// Not thread-safe.
class AuditFiles {
 public:
  explicit AuditFiles(AuditOptions options) : options_(std::move(options)) {}

  // Opens FILE for appending, with mode 0600 if it is new.
  Result<void> open();
  bool is_open() const { return static_cast<bool>(file_); }
  // Whether FILE ended in the middle of a line when it was opened. The next write begins a new one.
  bool was_torn() const { return was_torn_; }

  // Whether FILE should be rotated before so much is added to it.
  bool is_full(std::size_t bytes) const;
  // After an error FILE is still the one that is written, if it can be opened at all.
  Result<void> rotate();

  struct Written {
    std::size_t lines = 0;
    std::string trouble;  // why it was not all of them
  };
  Written write(std::span<const std::string> lines);
  // How many of these one write should add to FILE as it is: one at least.
  std::size_t count_fitting(std::span<const std::string> lines) const;

  // All that can be read, the newest first.
  std::vector<ReadableFile> readable() const;

 private:
  std::string path(std::uint32_t number) const;

  const AuditOptions options_;
  FileHandle file_;
  std::uint64_t size_ = 0;
  bool in_line_ = false;  // FILE ends in the middle of a line
  bool was_torn_ = false;
};

}  // namespace holdfast::server
