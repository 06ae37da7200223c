// SPDX-License-Identifier: Apache-2.0
//
// A second process that outlives this one by a moment. If this program is killed, or hangs, or is
// stopped while its lease runs out, nobody would be left to end the command: the guard does. It
// shares two numbers with us, the command's group and the time by which it must be dead, and a pipe
// that closes when we are gone. It is there before the command is.
#pragma once

#include "runtime/clock.hpp"

#include <sys/types.h>

#include <atomic>

namespace holdfast::cli {

struct GuardOptions {
  bool kill_when_we_die = true;  // else only when the time has come
  runtime::LocalTime dead_by = runtime::LocalTime::max();
};

class Guard {
 public:
  explicit Guard(GuardOptions options);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  // What a command writes before it becomes the program, see Launch.
  std::atomic<pid_t>& group();
  std::atomic<int>& failure();
  // Ends the guard. Must happen before the command is reaped, since then its number may be given to
  // somebody else.
  ~Guard();

  // It has killed the command.
  bool has_fired() const;
  // Somebody has killed the guard itself.
  bool is_gone() const;

  // From now on the command is killed at that time. Replaces an earlier one; never if max().
  void dead_by(runtime::LocalTime when);

 private:
  struct Shared;

  Shared* shared_;
  int line_ = -1;
  pid_t pid_ = -1;
};

}  // namespace holdfast::cli
