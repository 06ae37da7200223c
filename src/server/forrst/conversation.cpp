// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/conversation.hpp"

#include "server/forrst/result.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace holdfast::server {

namespace {

using std::chrono::milliseconds;

// Where the system does not tell us by a descriptor that the process has ended, or has to.
constexpr milliseconds without_alarm{20};
// poll takes an int.
constexpr milliseconds longest_poll = std::chrono::minutes(1);

// EPIPE instead of a signal for a program that does not read what it is told.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;
  ~WithoutSigpipe() {
    // One that came meanwhile is ours: it is taken before it can arrive.
    const timespec at_once{};
    while (sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

bool is_just_not_ready(ssize_t result) {
  return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

}  // namespace

void Conversation::make_end(End why, Clock::time_point now) {
  if (!is_ending_) end_ = why;
  is_ending_ = true;
  if (why == End::too_long) {
    child_.signal(SIGKILL);
    return;
  }
  child_.signal(SIGTERM);
  kill_at_ = now + command_grace;
}

void Conversation::write_input() {
  const auto rest = std::string_view(input_).substr(written_);
  const auto count = write(child_.in.get(), rest.data(), rest.size());
  if (is_just_not_ready(count)) return;
  if (count > 0) written_ += static_cast<std::size_t>(count);
  // Whoever does not want to hear it has all it needs.
  if (count < 0 || written_ == input_.size()) child_.in.close();
}

void Conversation::read_output() {
  std::array<char, 16384> bytes;
  while (child_.out.is_open()) {
    const auto count = read(child_.out.get(), bytes.data(), bytes.size());
    if (is_just_not_ready(count)) return;
    if (count <= 0) return child_.out.close();
    output_.append(bytes.data(), static_cast<std::size_t>(count));
    if (output_.size() <= max_command_output_bytes) continue;
    child_.out.close();
    make_end(End::too_long, Clock::now());
  }
}

void Conversation::read_complaint() {
  std::array<char, 4096> bytes;
  // A program that never stops complaining must not keep us from everything else.
  for (int rounds = 0; rounds < 64 && child_.err.is_open(); ++rounds) {
    const auto count = read(child_.err.get(), bytes.data(), bytes.size());
    if (is_just_not_ready(count)) return;
    if (count <= 0) return child_.err.close();
    complaint_.append(bytes.data(), static_cast<std::size_t>(count));
    const auto excess =
        complaint_.size() - std::min(complaint_.size(), max_command_complaint_bytes);
    complaint_.erase(0, excess);
  }
}

void Conversation::exchange() {
  if (child_.in.is_open()) write_input();
  read_output();
  read_complaint();
}

void Conversation::wait(Clock::time_point until, int alarm) {
  // A descriptor of -1 is left out by poll.
  std::array<pollfd, 5> waits{{{child_.in.get(), POLLOUT, 0},
                               {child_.out.get(), POLLIN, 0},
                               {child_.err.get(), POLLIN, 0},
                               {child_.end.get(), POLLIN, 0},
                               {alarm, POLLIN, 0}}};
  auto time = std::chrono::ceil<milliseconds>(until - Clock::now());
  const bool is_told = child_.end.is_open() && (is_ending_ || alarm >= 0);
  time = std::clamp(time, milliseconds::zero(), is_told ? longest_poll : without_alarm);
  poll(waits.data(), waits.size(), static_cast<int>(time.count()));
}

void Conversation::look(Clock::time_point now, Clock::time_point deadline,
                        const std::stop_token& stop) {
  if (now >= kill_at_) {
    child_.signal(SIGKILL);
    kill_at_ = Clock::time_point::max();
  }
  if (is_ending_) return;
  if (now < deadline && !stop.stop_requested()) return;
  make_end(is_out_of_time(deadline) ? End::out_of_time : End::stopped, now);
}

void Conversation::run(Clock::time_point deadline, const std::stop_token& stop) {
  const WithoutSigpipe quiet;
  const Descriptor alarm(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const std::stop_callback on_stop(stop, [fd = alarm.get()] { eventfd_write(fd, 1); });
  while (!child_.has_ended()) {
    look(Clock::now(), deadline, stop);
    // Once it has been told of the stop, the alarm has nothing more to say.
    wait(is_ending_ ? kill_at_ : deadline, is_ending_ ? -1 : alarm.get());
    exchange();
  }
  exchange();
}

}  // namespace holdfast::server
