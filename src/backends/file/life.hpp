// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "backends/file/wake_layout.hpp"

#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <utility>

namespace holdfast::backends::file {

// A descriptor that a forked child does not keep. Locks of an open file end when all descriptors of
// it are closed, so a child that kept one would make its dead parent look alive. fork() closes it
// in the child at once, and exec because of O_CLOEXEC. A child of a bare clone() or _Fork() that
// does not exec keeps it: its dead parent then looks alive until the child ends, which lets others
// wait but never lets two of them in.
class UninheritedFile {
 public:
  // Opens the file behind the descriptor once more, as an open file of its own. Fails with errno.
  static std::expected<std::unique_ptr<UninheritedFile>, int> reopen(int fd);
  UninheritedFile(const UninheritedFile&) = delete;
  UninheritedFile& operator=(const UninheritedFile&) = delete;
  ~UninheritedFile();

  int get() const noexcept { return fd_; }

 private:
  struct All;
  UninheritedFile() = default;
  static All& all();

  int fd_ = -1;
};

// The proof that this process lives: a lock of the kernel on one byte of the wake file, taken when
// the store is opened. The kernel drops it when the process ends, however it ends, and after the
// last of its threads has run. It knows no pids, so it holds between pid namespaces too.
//
// The file is opened once more for it: a mapping also keeps an open file, and a forked child has
// the mappings of its parent.
class Life {
 public:
  // Takes a byte and puts in order what its last user left: the lock of the writers becomes that of
  // a dead holder, and slots become free. `fd` is the wake file. Errors: limit_reached,
  // unavailable; the caller names the store.
  static Result<Life> begin(int fd, WakeLayout& wake, std::uint64_t random);
  Life(Life&&) noexcept = default;
  Life& operator=(Life&&) noexcept = default;

  ProcessNumber number() const noexcept { return number_; }
  // Whether that process lives. One system call, none for this process itself. When in doubt, yes.
  bool is_alive(ProcessNumber number) const;
  // Takes the word if it is that of a dead holder. False if the holder lives or the word changed.
  bool take_over(LockWord& word, ProcessNumber holder) const;
  // False if something has closed the descriptor behind our back: others would take this process
  // for dead. `fd` is the wake file.
  bool is_proven(int fd) const;

 private:
  Life(std::unique_ptr<UninheritedFile> file, ProcessNumber number)
      : file_(std::move(file)), number_(number) {}

  std::unique_ptr<UninheritedFile> file_;
  ProcessNumber number_;
  // The threads of a process share its locks, so only one of them at a time may try another's byte.
  std::unique_ptr<std::mutex> taking_over_ = std::make_unique<std::mutex>();
};

}  // namespace holdfast::backends::file
