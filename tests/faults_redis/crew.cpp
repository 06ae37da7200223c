// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/crew.hpp"

#include "support/timing.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

namespace holdfast::faults {

namespace {

using Address = std::array<char, 256>;
// For a process that is broken.
constexpr std::chrono::seconds patience(10);

template <typename T>
bool read_whole(int fd, T& what) {
  return read(fd, &what, sizeof what) == sizeof what;
}

template <typename T>
bool read_in_time(int fd, T& what) {
  pollfd ready{fd, POLLIN, 0};
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(test::at_most(patience));
  return poll(&ready, 1, static_cast<int>(limit.count())) == 1 && read_whole(fd, what);
}

template <typename T>
bool write_whole(int fd, const T& what) {
  return write(fd, &what, sizeof what) == sizeof what;
}

}  // namespace

Crew::Crew(SharedLog& log, LoadPlan plan, std::uint64_t seed) : log_(log), plan_(std::move(plan)) {
  if (pipe(orders_) != 0 || pipe(answers_) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  const pid_t parent = getpid();
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  _exit(run(seed));
}

int Crew::run(std::uint64_t seed) {
  Address url{};
  if (!read_whole(orders_[0], url)) return 1;
  plan_.urls = {url.data()};
  std::optional<Load> load;
  try {
    load.emplace(log_, plan_, seed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  write_whole(answers_[1], load.has_value());
  if (!load) return 1;
  for (char word = 0; read_whole(orders_[0], word) && word == 'c';) load->calm_down();
  const auto totals = load->end();
  for (const auto& each : totals.complaints) fmt::print(stderr, "{}\n", each);
  write_whole(answers_[1], Counts{totals.grants, totals.refusals, totals.losses, totals.increments,
                                  totals.complaints.size()});
  return 0;
}

bool Crew::start(const std::string& url) {
  Address address{};
  url.copy(address.data(), address.size() - 1);
  bool works = false;
  return write_whole(orders_[1], address) && read_in_time(answers_[0], works) && works;
}

void Crew::calm_down() const {
  if (is_alive()) write_whole(orders_[1], 'c');
}

Crew::Counts Crew::end() {
  Counts counts;
  if (!is_alive()) return counts;
  write_whole(orders_[1], 'e');
  if (!read_in_time(answers_[0], counts)) return {};
  waitpid(std::exchange(pid_, 0), nullptr, 0);
  return counts;
}

void Crew::stop() {
  if (!is_alive()) return;
  stopped_at_ = log_.now();
  ::kill(pid_, SIGSTOP);
  waitpid(pid_, nullptr, WUNTRACED);
}

void Crew::cont() {
  if (!is_alive()) return;
  ::kill(pid_, SIGCONT);
  // How long it takes to wake up is noted by the load itself, which watches for stalls.
  for (ProcessId i = 0; i < plan_.clients; ++i) {
    log_.fault(What::stopped, plan_.first_process + i, stopped_at_, log_.now());
  }
}

void Crew::kill() {
  if (!is_alive()) return;
  const Time begin = log_.now();
  ::kill(pid_, SIGKILL);
  waitpid(std::exchange(pid_, 0), nullptr, 0);
  for (ProcessId i = 0; i < plan_.clients; ++i) {
    log_.fault(What::stopped, plan_.first_process + i, begin, history::for_ever);
  }
}

}  // namespace holdfast::faults
