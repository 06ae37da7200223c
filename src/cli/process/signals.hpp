// SPDX-License-Identifier: Apache-2.0
//
// Signals as something to be read, in one place, by the thread that has the command. Threads made
// after this object inherit the mask, so nobody else is ever interrupted. What was ignored when the
// program started, as by nohup, stays ignored.
#pragma once

#include <csignal>
#include <optional>

namespace holdfast::cli {

class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  int fd() const { return fd_; }
  // The next one that came, or nothing. Never waits.
  std::optional<int> next() const;
  // What was blocked before, and whether the ends of children were ignored: for the command.
  const sigset_t& original_mask() const { return original_; }
  bool ignored_children() const { return ignored_children_; }

  // True for those that a command should get too.
  static bool is_for_the_command(int signal);
  // True for those that end a program which does not care: they end a wait for a lock.
  static bool ends_a_wait(int signal);

 private:
  sigset_t original_{};
  bool ignored_children_ = false;
  int fd_ = -1;
};

// Ends this program the way the signal would have, so that a shell sees it.
[[noreturn]] void die_by(int signal);

// Sends the signal to `target` (as kill() takes it), which this program must be part of, and lets
// it do what it does to a program that does not care. Returns if that was nothing, or when it is
// over: a stop ends with SIGCONT.
void suffer(int signal, pid_t target);

}  // namespace holdfast::cli
