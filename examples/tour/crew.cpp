// SPDX-License-Identifier: Apache-2.0
#include "crew.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <system_error>
#include <vector>

namespace tour {

namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

pid_t spawn_self(std::vector<std::string> arguments, int output) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  check(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  check(failed, "posix_spawn");
  return pid;
}

}  // namespace

Crew::Crew(std::string store) : store_(std::move(store)) {
  std::array<int, 2> ends{};
  check(pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
  reading_ = ends[0];
  writing_ = ends[1];
}

Crew::~Crew() {
  for (const auto& [who, pid] : workers_) kill(pid, SIGKILL);
  for (const auto& [who, pid] : workers_) waitpid(pid, nullptr, 0);
  close(reading_);
  close(writing_);
}

void Crew::start(const Job& job) {
  workers_[job.name] =
      spawn_self({"tour", "--worker", store_, job.name, std::to_string(job.rounds),
                  std::to_string(job.hold.count()), std::to_string(job.ttl.count())},
                 writing_);
}

void Crew::send(const std::string& who, int signal) const { kill(workers_.at(who), signal); }

void Crew::join(const std::string& who) {
  waitpid(workers_.at(who), nullptr, 0);
  workers_.erase(who);
}

std::optional<Report> Crew::next(std::chrono::milliseconds patience) {
  if (auto report = take_line()) return report;
  pollfd ready{.fd = reading_, .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
  std::array<char, 4096> bytes{};
  const auto got = read(reading_, bytes.data(), bytes.size());
  if (got > 0) unread_.append(bytes.data(), static_cast<std::size_t>(got));
  return take_line();
}

std::optional<Report> Crew::take_line() {
  const auto end = unread_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream line(unread_.substr(0, end));
  unread_.erase(0, end + 1);
  Report report;
  char event = 0;
  line >> report.who >> event >> report.fence;
  report.event = static_cast<Event>(event);
  return report;
}

}  // namespace tour
