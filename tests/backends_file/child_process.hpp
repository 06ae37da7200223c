// SPDX-License-Identifier: Apache-2.0
//
// Another process, for tests of what processes do to each other. Fork it before this one has
// threads; it never outlives its owner.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

namespace holdfast::test {

// Bytes from one process to another, one at a time.
class Pipe {
 public:
  Pipe() {
    if (pipe(ends_) != 0) std::abort();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  void tell(char word) const {
    if (write(ends_[1], &word, 1) != 1) std::abort();
  }
  // '?' if nothing comes.
  char hear(std::chrono::milliseconds patience = std::chrono::seconds(60)) const {
    pollfd ready{ends_[0], POLLIN, 0};
    char word = '?';
    if (poll(&ready, 1, static_cast<int>(patience.count())) == 1 && read(ends_[0], &word, 1) != 1) {
      word = '?';
    }
    return word;
  }

 private:
  int ends_[2]{};
};

class ChildProcess {
 public:
  // The child ends with the number that `work` returns.
  template <typename Work>
  explicit ChildProcess(Work work) : pid_(fork()) {
    if (pid_ < 0) std::abort();
    if (pid_ == 0) _exit(work());
  }
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~ChildProcess() { kill_now(); }

  pid_t pid() const { return pid_; }
  // The number, or -1 for a child that a signal ended.
  int join() {
    int status = 0;
    if (waitpid(std::exchange(pid_, 0), &status, 0) < 0) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    join();
  }
  // Returns when the child has stopped itself.
  bool wait_until_stopped() const {
    int status = 0;
    return waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status);
  }

 private:
  pid_t pid_;
};

}  // namespace holdfast::test
