// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/folder.hpp"
#include "backends/file/wake_layout.hpp"

#include <memory>

namespace holdfast::backends::file {

// The mapped wake file of this boot. Made complete under another name and then renamed, so nobody
// ever sees half of it.
class WakeFile {
 public:
  // Errors: unavailable, also for a file that is not ours, cut short or of a newer version; such a
  // file is left as it is.
  static Result<WakeFile> open(const Folder& folder, const std::string& boot_id);

  WakeFile(WakeFile&&) noexcept = default;
  WakeFile& operator=(WakeFile&&) noexcept = default;

  WakeLayout& layout() const noexcept { return *layout_; }
  // Of the process that mapped it; asking the kernel at every step would cost as much as the lock.
  pid_t pid() const noexcept { return pid_; }
  // True once somebody deleted the file: new processes then meet in another one.
  bool is_deleted() const;

 private:
  struct Unmap {
    void operator()(WakeLayout* layout) const noexcept;
  };
  WakeFile(Descriptor fd, WakeLayout* layout)
      : fd_(std::move(fd)), layout_(layout), pid_(getpid()) {}
  static Result<WakeFile> map(const Folder& folder, Descriptor fd);
  static Result<void> create(const Folder& folder, const std::string& name);

  Descriptor fd_;
  std::unique_ptr<WakeLayout, Unmap> layout_;
  pid_t pid_;
};

}  // namespace holdfast::backends::file
