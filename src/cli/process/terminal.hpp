// SPDX-License-Identifier: Apache-2.0
//
// The controlling terminal and who is in its foreground. The command is a process group of its own,
// so it must be given the terminal as a shell gives it to a job, and the terminal must be taken
// back when the command stops or ends.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

namespace holdfast::cli {

class Terminal {
 public:
  // Not a terminal at all where the program has none, as under cron.
  Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  bool exists() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  // Which group is in the foreground: this program's own, or another.
  bool is_ours() const;
  bool is_of(pid_t group) const;

  void give_to(pid_t group);
  // If that group has it. Restores the modes the terminal had at first: a command that was killed
  // leaves it as it is.
  void take_back_from(pid_t group);

 private:
  int fd_ = -1;
  std::optional<termios> modes_;
};

}  // namespace holdfast::cli
