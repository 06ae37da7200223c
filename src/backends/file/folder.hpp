// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "backends/file/descriptor.hpp"

#include <sys/types.h>

#include <chrono>
#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::backends::file {

// The folder of a store, open and found to be private to this user on a file system of this
// machine. Whoever can write into it can take any lock, so nobody else may.
class Folder {
 public:
  // Makes the folder (not its parents) if there is none. Errors: bad_input (not a folder, not ours,
  // open to others), unsupported (a file system that other machines may share), unavailable.
  static Result<Folder> open(const std::string& path);

  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    friend auto operator<=>(const Identity&, const Identity&) = default;
  };

  int fd() const noexcept { return fd_.get(); }
  Identity identity() const noexcept { return identity_; }
  const std::string& path() const noexcept { return path_; }
  // The path of a file in this very folder, whatever happens to the folder's own name.
  std::string path_of(std::string_view name) const;
  bool has(const std::string& name) const;

  // The type of its file system as statfs() tells it (file_system.hpp).
  unsigned long file_system() const noexcept { return file_system_; }
  bool keeps_allocated_space() const noexcept { return keeps_allocated_space_; }

  // Keeps other processes from initialising the folder. Let go when the folder is closed, or with
  // `unlock`. Errors: unavailable after `patience`.
  Result<void> lock(std::chrono::milliseconds patience) const;
  void unlock() const noexcept;

  // All of the file's space at once. 0, or what is in the way: ENOSPC, or EFBIG for the limit of
  // the process (ulimit -f), behind which the kernel would answer with a deadly signal.
  static int allocate(int fd, std::size_t bytes);

  void remove_files_of_other_boots(std::string_view boot_id) const;

  // "file:/run/holdfast: " and the rest, so that every error names the store.
  std::unexpected<Error> failure(Errc code, std::string_view what) const;
  std::unexpected<Error> failure_of(std::string_view call, int error) const;

 private:
  Folder() = default;
  Result<void> look();

  std::string path_;
  Descriptor fd_;
  Identity identity_;
  unsigned long file_system_ = 0;
  bool keeps_allocated_space_ = false;
};

// Whether this process may write files of that size.
bool within_file_size_limit(std::size_t bytes);

}  // namespace holdfast::backends::file
