// SPDX-License-Identifier: Apache-2.0
//
// Another process, for tests of what processes do to each other. Fork it before this one has
// threads; it never outlives its owner.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

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

// What a process has of its own, as in a container: its pids, so that it is the first process of
// its namespace like every other one, and perhaps a boot clock.
struct Apart {
  std::chrono::seconds boot_clock{};  // ahead of the machine's
  bool own_clock = false;
};

// Makes the namespaces for the children of this process. As root directly, else in a user namespace
// in which the user keeps its number.
inline bool live_apart(const Apart& apart) {
  const auto write_to = [](const char* path, const std::string& text) {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    const bool done = fd >= 0 && write(fd, text.data(), text.size()) == ssize_t(text.size());
    close(fd);
    return done;
  };
  const std::string user = std::to_string(geteuid()) + " " + std::to_string(geteuid()) + " 1";
  const std::string group = std::to_string(getegid()) + " " + std::to_string(getegid()) + " 1";
  const int own = CLONE_NEWPID | (apart.own_clock ? CLONE_NEWTIME : 0);
  if (unshare(own) != 0) {
    if (unshare(own | CLONE_NEWUSER) != 0) return false;
    write_to("/proc/self/setgroups", "deny");
    if (!write_to("/proc/self/uid_map", user) || !write_to("/proc/self/gid_map", group)) {
      return false;
    }
  }
  return !apart.own_clock ||
         write_to("/proc/self/timens_offsets",
                  "boottime " + std::to_string(apart.boot_clock.count()) + " 0");
}

class ChildProcess {
 public:
  // The child ends with the number that `work` returns.
  template <typename Work>
  explicit ChildProcess(Work work) : child_(fork()), worker_(child_) {
    if (child_ < 0) std::abort();
    if (child_ == 0) _exit(work());
  }
  // The same in namespaces of its own. Another process stands between, since one cannot move
  // itself; it ends with the worker.
  template <typename Work>
  ChildProcess(const Apart& apart, Work work) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    child_ = fork();
    if (child_ < 0) std::abort();
    if (child_ == 0) _exit(run_apart(apart, work, ends[1]));
    close(ends[1]);
    if (read(ends[0], &worker_, sizeof worker_) != sizeof worker_) worker_ = 0;
    close(ends[0]);
  }
  ChildProcess(ChildProcess&& other) noexcept
      : child_(std::exchange(other.child_, 0)), worker_(std::exchange(other.worker_, 0)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(child_, other.child_);
    std::swap(worker_, other.worker_);
    return *this;
  }
  ~ChildProcess() { kill_now(); }

  static bool can_live_apart(const Apart& apart = {}) {
    return ChildProcess([&] { return live_apart(apart) ? 0 : 1; }).join() == 0;
  }

  // As this process sees it.
  pid_t pid() const { return worker_; }
  bool is_running() const { return waitpid(child_, nullptr, WNOHANG) == 0; }
  // The number, or -1 for a child that a signal ended.
  int join() {
    int status = 0;
    worker_ = 0;
    if (waitpid(std::exchange(child_, 0), &status, 0) < 0) return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) != by_signal ? WEXITSTATUS(status) : -1;
  }
  void kill_now() {
    if (child_ <= 0) return;
    // Not the pid of one that has ended, which may be another's by now.
    if (is_running()) kill(worker_ > 0 ? worker_ : child_, SIGKILL);
    join();
  }
  // Returns when the child has stopped itself.
  bool wait_until_stopped() const {
    int status = 0;
    return waitpid(child_, &status, WUNTRACED) == child_ && WIFSTOPPED(status);
  }
  // 'S' for one that sleeps, 'T' for one that is stopped, as in /proc.
  char state() const {
    std::ifstream stat("/proc/" + std::to_string(worker_) + "/stat");
    std::string text{std::istreambuf_iterator<char>(stat), {}};
    const auto name_end = text.rfind(')');
    return name_end == std::string::npos ? '?' : text[name_end + 2];
  }

 private:
  static constexpr int by_signal = 126;

  template <typename Work>
  static int run_apart(const Apart& apart, Work& work, int out) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!live_apart(apart)) return 1;
    const pid_t worker = fork();
    if (worker == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      _exit(work());
    }
    if (write(out, &worker, sizeof worker) != sizeof worker) return 1;
    close(out);
    int status = 0;
    waitpid(worker, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : by_signal;
  }

  pid_t child_ = 0;
  pid_t worker_ = 0;  // the child itself, or the one in its namespaces
};

}  // namespace holdfast::test
