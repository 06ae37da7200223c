// SPDX-License-Identifier: Apache-2.0
#include "support/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace holdfast::test {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail_to(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail_to("pipe2");
    read = ends[0];
    write = ends[1];
  }
};

void put(int target, int inherited, const std::string& instead, int flags) {
  if (instead == "closed") {
    close(target);
    return;
  }
  const int from = instead.empty() ? inherited : ::open(instead.c_str(), flags);
  if (from < 0 || dup2(from, target) < 0) _exit(125);
}

// Appends what is there. False at the end of the stream.
bool drain(int fd, std::string& text) {
  std::array<char, 65536> bytes{};
  const auto got = read(fd, bytes.data(), bytes.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) return false;  // a terminal without programs ends with EIO
  text.append(bytes.data(), static_cast<std::size_t>(got));
  return true;
}

void close_once(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

void pause_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

}  // namespace

bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && text[name_end + 2] != 'Z';
}

Program::Program(std::vector<std::string> words, ProgramOptions options)
    : terminal_(options.terminal) {
  if (terminal_) {
    winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    const int none[3] = {-1, -1, -1};
    pid_ = forkpty(&out_fd_, nullptr, nullptr, &size);
    if (pid_ < 0) fail_to("forkpty");
    if (pid_ == 0) become(words, options, none);
    fcntl(out_fd_, F_SETFD, FD_CLOEXEC);
    in_ = dup(out_fd_);
    fcntl(in_, F_SETFD, FD_CLOEXEC);
    return;
  }
  Pipe in;
  Pipe out;
  Pipe err;
  const int pipes[3] = {in.read, out.write, err.write};
  pid_ = fork();
  if (pid_ < 0) fail_to("fork");
  if (pid_ == 0) become(words, options, pipes);
  close(in.read);
  close(out.write);
  close(err.write);
  in_ = in.write;
  out_fd_ = out.read;
  err_fd_ = err.read;
  if (!options.input.empty()) type(options.input);
  if (!options.keep_input_open) end_input();
}

void Program::become(const std::vector<std::string>& words, const ProgramOptions& options,
                     const int (&pipes)[3]) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!terminal_) {
    put(STDIN_FILENO, pipes[0], options.stdin_from, O_RDONLY);
    put(STDOUT_FILENO, pipes[1], options.stdout_to, O_WRONLY | O_CREAT | O_APPEND);
    put(STDERR_FILENO, pipes[2], options.stderr_to, O_WRONLY | O_CREAT | O_APPEND);
  }
  std::vector<std::string> environment{"PATH=" + std::string(std::getenv("PATH"))};
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());
  std::vector<char*> variables;
  for (auto& variable : environment) variables.push_back(variable.data());
  variables.push_back(nullptr);
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvpe(arguments[0], arguments.data(), variables.data());
  _exit(125);
}

Program::~Program() {
  if (!ended()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close_once(in_);
  close_once(out_fd_);
  close_once(err_fd_);
}

const std::string& Program::out() {
  read_more(Milliseconds(0));
  return out_;
}

const std::string& Program::err() {
  read_more(Milliseconds(0));
  return err_;
}

const std::string& Program::out_only() {
  pollfd one{out_fd_, POLLIN, 0};
  if (poll(&one, 1, 0) > 0 && !drain(out_fd_, out_)) close_once(out_fd_);
  return out_;
}

std::size_t Program::unread_err() const {
  int bytes = 0;
  return ioctl(err_fd_, FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

void Program::read_more(Milliseconds patience) {
  std::array<pollfd, 2> both{{{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}}};
  if (poll(both.data(), both.size(), static_cast<int>(patience.count())) <= 0) return;
  if (both[0].revents != 0 && !drain(out_fd_, out_)) close_once(out_fd_);
  if (both[1].revents != 0 && !drain(err_fd_, err_)) close_once(err_fd_);
}

template <typename Done>
bool Program::read_until(Done done, Milliseconds patience) {
  const auto began = Clock::now();
  while (!done()) {
    if (Clock::now() - began > at_most(patience)) return false;
    read_more(Milliseconds(5));
    if (out_fd_ < 0 && err_fd_ < 0) {
      if (done()) return true;
      pause_briefly();
    }
  }
  return true;
}

bool Program::says(std::string_view text, Milliseconds patience) {
  return read_until([&] { return out_.find(text) != std::string::npos; }, patience);
}

bool Program::complains(std::string_view text, Milliseconds patience) {
  return read_until([&] { return err_.find(text) != std::string::npos; }, patience);
}

void Program::type(std::string_view keys) {
  while (!keys.empty()) {
    const auto written = write(in_, keys.data(), keys.size());
    if (written < 0) fail_to("write");
    keys.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Program::end_input() { close_once(in_); }

void Program::resize(unsigned short rows, unsigned short columns) {
  const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  ioctl(out_fd_, TIOCSWINSZ, &size);
}

void Program::signal(int number) const { kill(pid_, number); }

std::optional<int> Program::ended() {
  if (status_) return status_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return status_;
}

int Program::wait(Milliseconds patience) {
  if (!read_until([&] { return ended().has_value(); }, patience)) {
    kill(pid_, SIGKILL);
    throw std::runtime_error("the program did not end; it wrote:\n" + out_ + err_);
  }
  // What it wrote last may still lie in the pipe; a grandchild may keep the pipe open.
  for (int i = 0; i < 2; ++i) read_more(Milliseconds(0));
  return *status_;
}

Program::Milliseconds Program::cpu_time() const { return cpu_time_of(pid_); }

std::chrono::milliseconds cpu_time_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  long long user = 0;
  long long system = 0;
  fields >> user >> system;
  return std::chrono::milliseconds((user + system) * 1000 / sysconf(_SC_CLK_TCK));
}

Finished run(std::vector<std::string> words, ProgramOptions options) {
  Program program(std::move(words), std::move(options));
  Finished finished;
  finished.code = program.wait();
  finished.out = program.out();
  finished.err = program.err();
  return finished;
}

}  // namespace holdfast::test
