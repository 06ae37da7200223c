// SPDX-License-Identifier: Apache-2.0
#include "cli/process/supervisor.hpp"

#include "cli/process/alarm.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <utility>

namespace holdfast::cli {

using runtime::LocalClock;

// The first loss of any lease, from Holdfast's own thread to ours.
class Supervisor::Loss {
 public:
  Loss() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  Loss(const Loss&) = delete;
  Loss& operator=(const Loss&) = delete;
  ~Loss() { close(fd_); }

  int fd() const { return fd_; }

  void tell(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (sentence_.empty()) sentence_ = error.message;
    eventfd_write(fd_, 1);
  }

  // Empty while there was none.
  std::string sentence() {
    const std::lock_guard lock(mutex_);
    eventfd_t count = 0;
    eventfd_read(fd_, &count);
    return sentence_;
  }

 private:
  const int fd_;
  std::mutex mutex_;
  std::string sentence_;  // guarded by mutex_
};

Supervisor::Supervisor(const Signals& signals, Terminal& terminal, Options options)
    : signals_(signals),
      terminal_(terminal),
      options_(std::move(options)),
      ladder_(options_.ladder),
      loss_(std::make_shared<Loss>()),
      timer_(timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)) {
  if (timer_ < 0) throw std::system_error(errno, std::generic_category(), "timerfd_create");
}

Supervisor::~Supervisor() { close(timer_); }

std::expected<Ending, NoProgram> Supervisor::run(Launch launch, std::span<Lease> leases) {
  std::vector<Hold> holds;
  for (auto& lease : leases) {
    holds.push_back({.remaining = [&lease] { return lease.remaining(); },
                     .on_lost = [&lease](auto callback) { lease.on_lost(std::move(callback)); }});
  }
  return run(std::move(launch), std::move(holds));
}

std::expected<Ending, NoProgram> Supervisor::run(Launch launch, std::vector<Hold> holds) {
  holds_ = std::move(holds);
  observe(LocalClock::now());
  const std::string word = launch.words.front();
  if (const int failure = start(std::move(launch))) {
    return std::unexpected(cannot_run(word, failure));
  }
  listen_for_loss();
  while (true) {
    look();
    if (has_ended()) {
      const int failure = guard_->failure();
      const auto ending = finish();
      if (failure != 0) return std::unexpected(cannot_run(word, failure));
      return ending;
    }
    wait_for_events();
    handle_signals();
  }
}

// 0, or errno if there can be no further process.
int Supervisor::start(Launch launch) {
  const bool ignores = options_.ladder.on_lost == OnLost::ignore;
  guard_.emplace(
      GuardOptions{.kill_when_we_die = !options_.keep_child,
                   .dead_by = ignores ? LocalTime::max() : valid_until_ - options_.ladder.margin});
  launch.mask = signals_.original_mask();
  launch.ignores_children = signals_.ignored_children();
  launch.dies_with_us = !options_.keep_child;
  launch.group = &guard_->group();
  launch.failure = &guard_->failure();
  // In a pipeline such as `holdfast run … | less` the others of our group need the terminal more.
  // The command gets it when it asks for it, see handle_stop.
  const bool is_alone = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  if (is_alone && terminal_.is_ours()) launch.terminal = terminal_.fd();
  const auto child = cli::launch(launch);
  if (!child) return child.error();
  child_ = *child;
  return 0;
}

void Supervisor::listen_for_loss() {
  for (const auto& hold : holds_) {
    hold.on_lost([loss = loss_](const Error& error) { loss->tell(error); });
  }
}

// What the leases say now. A lease that is lost has nothing left; what it had before is remembered,
// because it tells a lease that ran out from one that was taken away.
void Supervisor::observe(LocalTime now) {
  auto left = Duration::max();
  for (const auto& hold : holds_) left = std::min(left, hold.remaining());
  if (left <= Duration::zero()) {
    lost_ = true;
  } else {
    valid_until_ = now + left;
  }
}

// Acts first and talks later: nobody may read what is said.
void Supervisor::look() {
  const auto now = LocalClock::now();
  const auto sentence = loss_->sentence();
  lost_ = lost_ || !sentence.empty();
  if (!lost_) observe(now);
  const auto step = ladder_.look(now, valid_until_, lost_);
  guard_->dead_by(step.dead_by);
  set_alarm(timer_, step.look_again);
  send(step.signal);
  if (!sentence.empty()) {
    report_loss(sentence);
  } else if (step.signal != Ladder::Rung::none || guard_->has_fired()) {
    report_loss("it could not be renewed in time");
  }
}

void Supervisor::send(Ladder::Rung rung) const {
  if (rung == Ladder::Rung::none) return;
  if (rung == Ladder::Rung::kill) return tell_command(SIGKILL);
  tell_command(SIGTERM);
  // A stopped command could not even be asked.
  tell_command(SIGCONT);
}

void Supervisor::report_loss(const std::string& sentence) {
  if (std::exchange(reported_, true)) return;
  if (options_.on_loss) options_.on_loss(sentence);
}

// The kernel may have chosen it to make room, or an operator by mistake.
void Supervisor::renew_guard() {
  if (!guard_->is_gone() || guard_->has_fired()) return;
  const int failure = guard_->failure();
  guard_.emplace(GuardOptions{.kill_when_we_die = !options_.keep_child});
  guard_->group() = child_;
  guard_->failure() = failure;
  look();
}

void Supervisor::wait_for_events() const {
  std::array<pollfd, 3> events{
      {{signals_.fd(), POLLIN, 0}, {loss_->fd(), POLLIN, 0}, {timer_, POLLIN, 0}}};
  poll(events.data(), events.size(), -1);
}

void Supervisor::handle_signals() {
  while (const auto signal = signals_.next()) {
    if (*signal == SIGCHLD) {
      renew_guard();
      handle_stop();
    } else if (*signal == SIGCONT) {
      resume_command();
    } else if (Signals::is_for_the_command(*signal)) {
      if (Signals::ends_a_wait(*signal)) told_ = signal;
      tell_command(*signal);
    }
  }
}

void Supervisor::handle_stop() {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(child_), &info, WSTOPPED | WNOHANG) != 0) return;
  if (info.si_pid != child_) return;
  const int signal = info.si_status;
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  // It may have asked just before it was given the terminal.
  const bool can_have_it = terminal_.is_ours() || terminal_.is_of(child_);
  if (wants_terminal && can_have_it) return resume_command();
  if (signal == SIGTSTP || wants_terminal) suspend_with_command(signal);
  // Any other stop is somebody's decision about the command alone: the lease is kept.
}

// As a job of a shell: if the command is stopped, the shell must get its terminal back, and sees
// that only if we stop too. Meanwhile nobody renews; the guard ends the command if that takes too
// long.
void Supervisor::suspend_with_command(int signal) {
  if (!terminal_.exists()) return;
  // The guard goes by what was known last.
  look();
  terminal_.take_back_from(child_);
  suffer(signal, 0);
  // What ends the stop is a SIGCONT, which is read like any signal. A job without a shell cannot be
  // stopped by the terminal, so a command that was is continued at once; one that wants a terminal
  // it cannot have stays stopped.
  if (signal == SIGTSTP) resume_command();
}

void Supervisor::resume_command() {
  look();
  if (terminal_.is_ours()) terminal_.give_to(child_);
  tell_command(SIGCONT);
}

void Supervisor::tell_command(int signal) const { kill(-child_, signal); }

bool Supervisor::has_ended() const {
  siginfo_t info{};
  const int options = WEXITED | WNOHANG | WNOWAIT;
  return waitid(P_PID, static_cast<id_t>(child_), &info, options) == 0 && info.si_pid == child_;
}

// The command is not reaped before everybody who knows its number is done with it.
Ending Supervisor::finish() {
  for (const auto& hold : holds_) hold.on_lost({});
  const bool lost = lost_ || ladder_.has_started() || guard_->has_fired();
  // Those it left behind have no lock either.
  if (ladder_.has_started()) tell_command(SIGKILL);
  guard_.reset();
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  terminal_.take_back_from(child_);
  Ending ending{.exit_code = 0, .signal = {}, .lost = lost, .told = told_};
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  ending.exit_code = ending.signal ? 128 + *ending.signal : WEXITSTATUS(status);
  return ending;
}

}  // namespace holdfast::cli
