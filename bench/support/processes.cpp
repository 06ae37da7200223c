// SPDX-License-Identifier: Apache-2.0
#include "support/processes.hpp"

#include "support/bars.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace holdfast::bench {

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::vector<int> allowed_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) give_up("the cores cannot be told");
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

void pin_to_core(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  if (sched_setaffinity(0, sizeof only, &only) != 0) give_up("a process cannot be pinned");
}

void give_up_without_memory() { give_up("no shared memory can be had"); }

Children::Children(std::size_t count, const std::function<void(std::size_t)>& work) {
  const pid_t parent = getpid();
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t pid = fork();
    if (pid < 0) give_up("fork failed");
    if (pid > 0) {
      pids_.push_back(pid);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(1);
    work(i);
    std::_Exit(0);
  }
}

Children::~Children() {
  for (const int pid : pids_) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

void Children::wait() {
  while (!pids_.empty()) {
    int status = 0;
    if (waitpid(pids_.back(), &status, 0) < 0) give_up("a child was lost");
    pids_.pop_back();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) give_up("a child failed");
  }
}

}  // namespace holdfast::bench
