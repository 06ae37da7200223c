// SPDX-License-Identifier: Apache-2.0
#include "support/started.hpp"

#include "support/bars.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

namespace holdfast::bench {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Started::Started(std::vector<std::string> words, const std::string& error_file) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) give_up("fork failed");
  if (pid_ > 0) return;
  // A benchmark that gives up destroys nothing, and must leave nobody behind.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (!error_file.empty()) {
    dup2(open(error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
  }
  execvp(arguments[0], arguments.data());
  _exit(127);
}

Started::~Started() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

double Started::cpu_ms() const {
  double ns = 0;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", pid_);
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    ns += std::stod(contents(task.path() / "schedstat"));
  }
  return ns / 1e6;
}

double Started::status_mb(std::string_view field) const {
  const auto status = contents(fmt::format("/proc/{}/status", pid_));
  const auto at = status.find(field);
  if (at == std::string::npos) give_up(fmt::format("/proc/PID/status has no {}", field));
  return std::stod(status.substr(at + field.size())) / 1024;
}

double Started::resident_mb() const { return status_mb("VmRSS:"); }
double Started::most_resident_mb() const { return status_mb("VmHWM:"); }

}  // namespace holdfast::bench
