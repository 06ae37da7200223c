// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/folder.hpp"
#include "backends/file/life.hpp"
#include "backends/file/wake_layout.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace holdfast::backends::file {

// What all processes of a store must have in common.
struct Surroundings {
  std::string boot_id;
  std::chrono::nanoseconds boot_clock{};  // how far it is from the machine's (places.hpp)
};

// The mapped wake file of this boot, and the proof that this process lives, which others look for
// in it. Made complete under another name and then renamed, so nobody ever sees half of it.
class WakeFile {
 public:
  // A file of an older version that no process uses is replaced. Errors: unsupported (another boot
  // clock, another view of the folder), limit_reached, unavailable, also for a file that is not
  // ours, cut short or of another version; such a file is left as it is.
  static Result<WakeFile> open(const Folder& folder, const Surroundings& ours);

  WakeFile(WakeFile&&) noexcept = default;
  WakeFile& operator=(WakeFile&&) noexcept = default;

  WakeLayout& layout() const noexcept { return *layout_; }
  const Life& life() const noexcept { return life_; }
  // Of the process that mapped it; asking the kernel at every step would cost as much as the lock.
  pid_t pid() const noexcept { return pid_; }
  // True once somebody deleted the file: new processes then meet in another one.
  bool is_deleted() const;
  // False if another part of the program has closed our files.
  bool proves_our_life() const { return life_.is_proven(fd_.get()); }

 private:
  struct Unmap {
    void operator()(WakeLayout* layout) const noexcept;
  };
  using Mapping = std::unique_ptr<WakeLayout, Unmap>;
  WakeFile(Descriptor fd, Mapping layout, Life life)
      : fd_(std::move(fd)), layout_(std::move(layout)), life_(std::move(life)), pid_(getpid()) {}
  static Result<WakeFile> map(const Folder& folder, Descriptor fd, const Surroundings& ours);
  static Result<Descriptor> open_or_create(const Folder& folder, const Surroundings& ours);
  static Result<void> create(const Folder& folder, const Surroundings& ours);

  Descriptor fd_;
  Mapping layout_;
  Life life_;
  pid_t pid_;
};

}  // namespace holdfast::backends::file
