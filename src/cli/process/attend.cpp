// SPDX-License-Identifier: Apache-2.0
#include "cli/process/attend.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <thread>

namespace holdfast::cli {
namespace {

// Who does not wait longer than this need not be told for whom.
constexpr int first_tick_ms = 200;
constexpr int tick_ms = 1000;

class Event {
 public:
  Event() : fd_(eventfd(0, EFD_CLOEXEC)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { close(fd_); }
  int fd() const { return fd_; }
  void fire() const { eventfd_write(fd_, 1); }

 private:
  const int fd_;
};

// The signal that ends the wait, if one came.
std::optional<int> read_signals(const Signals& signals) {
  while (const auto signal = signals.next()) {
    if (Signals::ends_a_wait(*signal)) return signal;
    if (*signal == SIGTSTP) suffer(SIGTSTP, getpid());
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> attend(const Signals& signals, const Attention& attention,
                          const std::function<void(std::stop_token)>& work) {
  const Event done;
  std::jthread worker([&](std::stop_token stop) {
    work(std::move(stop));
    done.fire();
  });
  std::optional<int> ended_by;
  int patience_ms = attention.tick ? first_tick_ms : -1;
  while (true) {
    std::array<pollfd, 2> events{{{done.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    const int ready = poll(events.data(), ended_by ? 1 : 2, patience_ms);
    if (events[0].revents != 0) return ended_by;
    if (ready == 0) {
      attention.tick();
      patience_ms = tick_ms;
    } else if (events[1].revents != 0) {
      ended_by = read_signals(signals);
      if (!ended_by) continue;
      if (attention.dies_at_once) die_by(*ended_by);
      worker.request_stop();
      patience_ms = -1;
    }
  }
}

}  // namespace holdfast::cli
