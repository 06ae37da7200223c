// SPDX-License-Identifier: Apache-2.0
#include "cli/process/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

extern char** environ;

namespace holdfast::cli {
namespace {

bool was_closed[3];

struct Prepared {
  const Launch& launch;
  std::vector<char*> words;
  std::vector<char*> environment;
  std::vector<char*> shell_words;  // for a script without "#!", which a shell runs
  pid_t parent;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Between vfork and exec: system calls only, since the memory is the parent's.
[[noreturn]] void become(const Prepared& prepared) {
  const Launch& launch = prepared.launch;
  setpgid(0, 0);
  launch.group->store(getpid());
  if (launch.terminal >= 0) tcsetpgrp(launch.terminal, getpid());
  if (launch.dies_with_us) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != prepared.parent) _exit(0);
  }
  for (int fd = 0; fd < 3; ++fd) {
    if (was_closed[fd]) close(fd);
  }
  if (launch.ignores_children) std::signal(SIGCHLD, SIG_IGN);
  sigprocmask(SIG_SETMASK, &launch.mask, nullptr);
  execve(launch.path.c_str(), prepared.words.data(), prepared.environment.data());
  if (errno == ENOEXEC) {
    execve("/bin/sh", prepared.shell_words.data(), prepared.environment.data());
  }
  launch.failure->store(errno);
  _exit(127);
}

}  // namespace

std::expected<pid_t, int> launch(const Launch& launch) {
  Prepared prepared{.launch = launch,
                    .words = pointers(launch.words),
                    .environment = pointers(launch.environment),
                    .shell_words = {},
                    .parent = getpid()};
  prepared.shell_words = prepared.words;
  prepared.shell_words[0] = const_cast<char*>(launch.path.c_str());
  prepared.shell_words.insert(prepared.shell_words.begin(), const_cast<char*>("sh"));
  // fork() would copy the page tables of a process with threads and a mapped store, for nothing.
  // But who has the terminal may be stopped by it at any moment, and a parent in vfork would wait
  // for ever.
  const pid_t pid = launch.terminal >= 0 ? fork() : vfork();
  if (pid == 0) become(prepared);
  if (pid < 0) return std::unexpected(errno);
  return pid;
}

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  const auto is_changed = [&](std::string_view variable) {
    const auto name = variable.substr(0, variable.find('=') + 1);
    return std::ranges::any_of(changes, [&](const auto& each) { return each.starts_with(name); });
  };
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_changed(*variable)) out.emplace_back(*variable);
  }
  out.insert(out.end(), changes.begin(), changes.end());
  return out;
}

void fill_closed_descriptors() {
  for (int fd = 0; fd < 3; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    was_closed[fd] = true;
    // The lowest free number is this one. Reading it is refused for 0, writing for 1 and 2.
    (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace holdfast::cli
