// SPDX-License-Identifier: Apache-2.0
//
// A program in a process group of its own, with pipes on its standard input, output and error, and
// nothing else of ours: no descriptors, no signal mask, no handlers. It does not outlive the thread
// that started it.
#pragma once

#include <holdfast/error.hpp>

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace holdfast::server {

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

struct ProgramCall {
  std::string file;                      // what is run
  std::vector<std::string> words;        // the first is its name
  std::vector<std::string> environment;  // NAME=VALUE, all of it
};

class ChildProcess {
 public:
  // Errors: unavailable, if it cannot be started.
  static Result<ChildProcess> start(const ProgramCall& call);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Kills what is left of the group, and waits for the process.
  ~ChildProcess();

  // To the whole group.
  void signal(int number) const;
  // Whether it has ended; what it started may go on.
  bool has_ended() const;
  // What waitpid says; kills what is left of the group, so that nothing of it acts any more. Once,
  // when it has ended.
  int reap();

  // Not blocking.
  Descriptor in;
  Descriptor out;
  Descriptor err;
  Descriptor end;  // readable when it has ended; -1 where the system cannot tell so

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

}  // namespace holdfast::server
