// SPDX-License-Identifier: Apache-2.0
#include "cli/process/child.hpp"

#include "runtime/runtime.hpp"

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

struct PreparedLaunch {
  const Launch& launch;
  std::vector<char*> words;
  std::vector<char*> environment;
  std::vector<char*> shell_words;
  pid_t parent;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// A script without "#!" is what a shell runs: its path stands before its arguments then.
std::vector<char*> words_for_a_shell(const std::string& path, std::vector<char*> words) {
  words[0] = const_cast<char*>(path.c_str());
  words.insert(words.begin(), const_cast<char*>("sh"));
  return words;
}

void close_what_was_closed() {
  for (int fd = 0; fd < 3; ++fd) {
    if (was_closed[fd]) close(fd);
  }
}

// Between vfork and exec: system calls only, since the memory is the parent's.
[[noreturn]] void become_the_command(const PreparedLaunch& prepared) {
  const Launch& launch = prepared.launch;
  setpgid(0, 0);
  launch.group->store(getpid());
  if (launch.terminal >= 0) tcsetpgrp(launch.terminal, getpid());
  if (launch.dies_with_us) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != prepared.parent) _exit(0);
  }
  close_what_was_closed();
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
  PreparedLaunch prepared{.launch = launch,
                          .words = pointers(launch.words),
                          .environment = pointers(launch.environment),
                          .shell_words = {},
                          .parent = getpid()};
  prepared.shell_words = words_for_a_shell(launch.path, prepared.words);
  // fork() would copy the page tables of a process with threads and a mapped store, for nothing.
  // But who has the terminal may be stopped by it at any moment, and a parent in vfork would wait
  // for ever.
  const pid_t pid = launch.terminal >= 0 ? fork() : vfork();
  if (pid == 0) become_the_command(prepared);
  if (pid < 0) return std::unexpected(errno);
  return pid;
}

int become(const std::string& path, const std::vector<std::string>& words) {
  // The kernel lets no thread be started while this one is in exec; whoever tried would end both.
  runtime::wait_for_end_of_runtimes(std::chrono::seconds(2));
  const auto pointers_to_words = pointers(words);
  close_what_was_closed();
  execv(path.c_str(), pointers_to_words.data());
  if (errno == ENOEXEC) {
    execv("/bin/sh", words_for_a_shell(path, pointers_to_words).data());
  }
  return errno;
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
    (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace holdfast::cli
