// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace holdfast::server {

namespace {

// Above what the child has on 0, 1 and 2, so that putting one in its place destroys no other.
constexpr int first_own_descriptor = 3;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Descriptor above_the_standard(int fd) {
  if (fd >= first_own_descriptor) return Descriptor(fd);
  const int higher = fcntl(fd, F_DUPFD_CLOEXEC, first_own_descriptor);
  close(fd);
  return Descriptor(higher);
}

bool make_pipe(Pipe& out) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  out.read = above_the_standard(ends[0]);
  out.write = above_the_standard(ends[1]);
  return out.read.is_open() && out.write.is_open();
}

void set_non_blocking(const Descriptor& fd) {
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

struct Pipes {
  Pipe in;
  Pipe out;
  Pipe err;
  Pipe failure;  // closed by a program that runs; else it has the reason why not
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const auto& each : texts) all.push_back(const_cast<char*>(each.c_str()));
  all.push_back(nullptr);
  return all;
}

// All that happens between fork and exec, where other threads may have held any lock: system calls
// alone.
struct Becoming {
  const char* file;
  char* const* words;
  char* const* environment;
  pid_t parent;

  [[noreturn]] void become(const Pipes& pipes) const {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // It may have died before that.
    if (getppid() != parent) _exit(127);
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(pipes.in.read.get(), 0);
    dup2(pipes.out.write.get(), 1);
    dup2(pipes.err.write.get(), 2);
    const int failure = pipes.failure.write.get();
    if (failure > first_own_descriptor) close_from(first_own_descriptor, failure - 1);
    close_from(failure + 1, -1);
    execve(file, words, environment);
    const int why = errno;
    [[maybe_unused]] const auto told = write(failure, &why, sizeof(why));
    _exit(127);
  }

  // Ours have FD_CLOEXEC; a library's may not.
  static void close_from(int first, int last) {
    const auto from = static_cast<unsigned>(first);
    if (syscall(SYS_close_range, from, static_cast<unsigned>(last), 0U) == 0) return;
    const int most = last >= 0 ? last : static_cast<int>(sysconf(_SC_OPEN_MAX)) - 1;
    for (int fd = first; fd <= most; ++fd) ::close(fd);
  }
};

std::unexpected<Error> cannot_start(std::string_view file, int why) {
  std::array<char, 128> words{};
  return fail(Errc::unavailable, fmt::format("cannot start {}: {}", file,
                                             strerror_r(why, words.data(), words.size())));
}

}  // namespace

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<ChildProcess> ChildProcess::start(const ProgramCall& call) {
  Pipes pipes;
  for (auto* each : {&pipes.in, &pipes.out, &pipes.err, &pipes.failure}) {
    if (!make_pipe(*each)) return cannot_start(call.file, errno);
  }
  const auto words = pointers(call.words);
  const auto environment = pointers(call.environment);
  const Becoming child{call.file.c_str(), words.data(), environment.data(), getpid()};
  // No handler of ours may run in the child before it has let go of them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // The end of a child that is quick would wake a thread that has it not blocked, and nobody needs.
  sigdelset(&all, SIGCHLD);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0) child.become(pipes);
  const int why = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return cannot_start(call.file, why);
  // Here too: whoever signals the group must find it, whichever of the two comes first.
  setpgid(pid, pid);
  ChildProcess started(pid);
  pipes.failure.write.close();
  int failure = 0;
  ssize_t told = 0;
  do {
    told = read(pipes.failure.read.get(), &failure, sizeof(failure));
  } while (told < 0 && errno == EINTR);
  if (told == sizeof(failure)) return cannot_start(call.file, failure);
  started.in = std::move(pipes.in.write);
  started.out = std::move(pipes.out.read);
  started.err = std::move(pipes.err.read);
  for (const auto* each : {&started.in, &started.out, &started.err}) set_non_blocking(*each);
  started.end = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U)));
  return started;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : in(std::move(other.in)),
      out(std::move(other.out)),
      err(std::move(other.err)),
      end(std::move(other.end)),
      pid_(std::exchange(other.pid_, 0)) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) reap();
}

void ChildProcess::signal(int number) const { kill(-pid_, number); }

bool ChildProcess::has_ended() const {
  siginfo_t about{};
  // Left as a zombie: its number, and so that of its group, is nobody else's until it is reaped.
  const int asked = waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOHANG | WNOWAIT);
  return asked != 0 || about.si_pid == pid_;
}

int ChildProcess::reap() {
  const pid_t pid = std::exchange(pid_, 0);
  kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    // Somebody else has heard how it ended, so that nobody can call it a success.
    if (errno != EINTR) return SIGKILL;
  }
  return status;
}

}  // namespace holdfast::server
