// SPDX-License-Identifier: Apache-2.0
#include "cli/process/signals.hpp"

#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace holdfast::cli {
namespace {

constexpr std::array ending{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
constexpr std::array forwarded{SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGUSR1,
                               SIGUSR2, SIGTSTP, SIGWINCH, SIGCONT};

bool is_ignored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  // One that is blocked would be kept for us although it is ignored.
  for (const int signal : forwarded) {
    if (!is_ignored(signal)) sigaddset(&set, signal);
  }
  sigaddset(&set, SIGCHLD);
  // A reader of ours that went away must not be the end of the command.
  sigaddset(&set, SIGPIPE);
  // A background program that moves the terminal to its command must not be stopped for it.
  sigaddset(&set, SIGTTOU);
  sigaddset(&set, SIGTTIN);
  return set;
}

template <std::size_t n>
bool has(const std::array<int, n>& list, int signal) {
  return std::ranges::find(list, signal) != list.end();
}

}  // namespace

Signals::Signals() : ignored_children_(is_ignored(SIGCHLD)) {
  // Nobody could wait for a child otherwise.
  if (ignored_children_) std::signal(SIGCHLD, SIG_DFL);
  const auto set = watched();
  pthread_sigmask(SIG_BLOCK, &set, &original_);
  fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

Signals::~Signals() {
  close(fd_);
  if (ignored_children_) std::signal(SIGCHLD, SIG_IGN);
  pthread_sigmask(SIG_SETMASK, &original_, nullptr);
}

std::optional<int> Signals::next() const {
  signalfd_siginfo info{};
  if (read(fd_, &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

bool Signals::is_for_the_command(int signal) { return has(forwarded, signal); }
bool Signals::ends_a_wait(int signal) { return has(ending, signal); }

void suffer(int signal, pid_t target) {
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  struct sigaction before{};
  sigaction(signal, &usual, &before);
  kill(target, signal);
  sigset_t only;
  sigset_t mask;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, &mask);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  sigaction(signal, &before, nullptr);
}

void die_by(int signal) {
  // The core that counts is the command's.
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);
  suffer(signal, getpid());
  _exit(128 + signal);
}

}  // namespace holdfast::cli
