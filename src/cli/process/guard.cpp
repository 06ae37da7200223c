// SPDX-License-Identifier: Apache-2.0
#include "cli/process/guard.hpp"

#include "cli/process/alarm.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <new>
#include <system_error>

namespace holdfast::cli {

using runtime::LocalClock;
using runtime::LocalTime;

struct Guard::Shared {
  std::atomic<pid_t> group{0};
  std::atomic<int> failure{0};
  std::atomic<std::int64_t> dead_by_ns{INT64_MAX};
  std::atomic<bool> dismissed{false};
  std::atomic<bool> fired{false};
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
};

namespace {

[[noreturn]] void fail_to(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// Where the kernel does not know close_range.
constexpr int most_descriptors = 4096;

// Keeps the two descriptors, as 0 and 1, and nothing else: a reader of our standard output must not
// wait for the guard's end.
void keep_only(int line, int timer) {
  // Both may lie where the other is to go.
  const int high_line = fcntl(line, F_DUPFD, 3);
  const int high_timer = fcntl(timer, F_DUPFD, 3);
  if (high_line < 0 || high_timer < 0) _exit(1);
  dup2(high_line, 0);
  dup2(high_timer, 1);
  if (close_range(2, ~0U, 0) == 0) return;
  for (int fd = 2; fd < most_descriptors; ++fd) close(fd);
}

}  // namespace

Guard::Guard(GuardOptions options) {
  void* page =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) fail_to("mmap");
  shared_ = new (page) Shared;
  shared_->dead_by_ns = options.dead_by.time_since_epoch().count();
  std::array<int, 2> line{};
  if (pipe2(line.data(), O_CLOEXEC) != 0) fail_to("pipe2");
  const int timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
  if (timer < 0) fail_to("timerfd_create");
  pid_ = fork();
  if (pid_ < 0) fail_to("fork");
  if (pid_ > 0) {
    close(timer);
    close(line[0]);
    line_ = line[1];
    return;
  }

  // The guard. Other threads do not exist here, and may have left anything half done: system calls
  // only. Signals stay blocked, and a stop of our whole job does not reach another group.
  setpgid(0, 0);
  prctl(PR_SET_NAME, "holdfast-guard");
  keep_only(line[0], timer);
  while (true) {
    const LocalTime dead_by{LocalTime::duration(shared_->dead_by_ns.load())};
    if (LocalClock::now() >= dead_by) break;
    set_alarm(1, dead_by);
    std::array<pollfd, 2> events{{{0, POLLIN, 0}, {1, POLLIN, 0}}};
    if (poll(events.data(), events.size(), -1) < 0) continue;
    if ((events[0].revents & POLLIN) != 0) {
      char nudge = 0;
      (void)!::read(0, &nudge, 1);
    } else if ((events[0].revents & POLLHUP) != 0) {
      if (shared_->dismissed.load() || !options.kill_when_we_die) _exit(0);
      break;
    }
  }
  const pid_t group = shared_->group.load();
  if (group > 0) {
    shared_->fired.store(true);
    kill(-group, SIGKILL);
  }
  _exit(0);
}

Guard::~Guard() {
  shared_->dismissed.store(true);
  close(line_);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  munmap(shared_, sizeof(Shared));
}

std::atomic<pid_t>& Guard::group() { return shared_->group; }
std::atomic<int>& Guard::failure() { return shared_->failure; }

bool Guard::has_fired() const { return shared_->fired.load(); }

bool Guard::is_gone() const {
  siginfo_t info{};
  const int options = WEXITED | WNOHANG | WNOWAIT;
  return waitid(P_PID, static_cast<id_t>(pid_), &info, options) == 0 && info.si_pid == pid_;
}

void Guard::dead_by(LocalTime when) {
  const auto when_ns = when.time_since_epoch().count();
  // For a later time it need not be woken: it wakes at the one it knew, and reads the new one.
  if (shared_->dead_by_ns.exchange(when_ns) > when_ns) (void)!write(line_, "!", 1);
}

}  // namespace holdfast::cli
