// SPDX-License-Identifier: Apache-2.0
#include "support/redis.hpp"

#include "support/bars.hpp"
#include "support/processes.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>

namespace holdfast::bench {

namespace {

std::vector<int> go_to_the_servers_core() {
  auto cores = allowed_cores();
  pin_to_core(cores.back());
  return cores;
}

double to_number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

// The commands that appear in the scripts, in lower case.
std::set<std::string> commands_of_scripts() {
  using backends::redis::Script;
  const backends::redis::Scripts scripts({});
  const std::regex call(R"(\bp?call\('([A-Z]+)')");
  std::set<std::string> found;
  for (const auto script :
       {Script::acquire, Script::renew, Script::release, Script::force_release, Script::inspect}) {
    const std::string& text = scripts[script].text;
    for (auto it = std::sregex_iterator(text.begin(), text.end(), call);
         it != std::sregex_iterator(); ++it) {
      std::string name = (*it)[1];
      for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
      found.insert(std::move(name));
    }
  }
  return found;
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t got = 0; (got = read(fd, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

[[noreturn]] void become(std::vector<std::string> words, int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output, STDOUT_FILENO);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  _exit(127);
}

}  // namespace

PinnedRedis::PinnedRedis() : cores_(go_to_the_servers_core()) {
  pin_to_core(cores_.front());
  if (cores_.size() == 1) print_note("one core only: client and server share it");
}

double cpu_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) {
    give_up("the processor time of a process cannot be told");
  }
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

CpuShares::CpuShares(pid_t client, pid_t server)
    : client_(client),
      server_(server),
      client_before_(cpu_seconds_of(client)),
      server_before_(cpu_seconds_of(server)),
      began_ns_(monotonic_ns()) {}

CpuShares::Shares CpuShares::so_far() const {
  const double seconds = static_cast<double>(monotonic_ns() - began_ns_) / 1e9;
  return {.client = (cpu_seconds_of(client_) - client_before_) / seconds,
          .server = (cpu_seconds_of(server_) - server_before_) / seconds,
          .seconds = seconds};
}

double info_number(RawRedis& redis, const std::string& section, std::string_view field) {
  std::istringstream lines(redis.text({"INFO", section}));
  const std::string start = fmt::format("{}:", field);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) return to_number(line.substr(start.size()));
  }
  give_up(fmt::format("INFO {} has no {}", section, field));
}

std::map<std::string, CommandStats> command_stats(RawRedis& redis) {
  const std::string text = redis.text({"INFO", "commandstats"});
  const std::regex line("cmdstat_([^:]+):calls=([0-9]+),usec=([0-9]+)");
  std::map<std::string, CommandStats> stats;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), line); it != std::sregex_iterator();
       ++it) {
    stats[(*it)[1]] = {to_number((*it)[2]), to_number((*it)[3])};
  }
  return stats;
}

double client_commands(RawRedis& redis) {
  static const std::set<std::string> inside = commands_of_scripts();
  double calls = 0;
  for (const auto& [name, stats] : command_stats(redis)) {
    const bool is_ours = name == "config|resetstat";
    // "pubsub|numsub" since Redis 7.
    const bool is_inside = inside.contains(name.substr(0, name.find('|')));
    if (!is_ours && !is_inside) calls += stats.calls;
  }
  return calls;
}

std::string output_of(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) give_up("no pipe can be had");
  const pid_t pid = fork();
  if (pid < 0) give_up("fork failed");
  if (pid == 0) become(words, ends[1]);
  close(ends[1]);
  std::string text = read_to_end(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) give_up(words.front() + " failed");
  return text;
}

}  // namespace holdfast::bench
