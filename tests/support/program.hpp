// SPDX-License-Identifier: Apache-2.0
//
// A real program, driven from outside: by pipes as a script does, or by a terminal as a person
// does.
#pragma once

#include "support/timing.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

struct ProgramOptions {
  // NAME=VALUE, over an environment that has PATH and nothing else.
  std::vector<std::string> environment;
  std::string input;             // on standard input, which ends behind it
  bool keep_input_open = false;  // it does not end
  bool terminal = false;         // standard input, output and error are a terminal of its own
  // What to put on 0, 1, 2 instead of pipes: a path, or "closed". Empty: a pipe.
  std::string stdin_from;
  std::string stdout_to;
  std::string stderr_to;
};

// Starts at once. Killed with this object, its whole session if it has a terminal.
class Program {
 public:
  using Milliseconds = std::chrono::milliseconds;

  explicit Program(std::vector<std::string> words, ProgramOptions options = {});
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  pid_t pid() const { return pid_; }
  // What it wrote so far; on a terminal everything is `out`.
  const std::string& out();
  const std::string& err();
  // The same as out(), but leaves standard error unread, and how much of that there is.
  const std::string& out_only();
  std::size_t unread_err() const;

  // True as soon as the text has been written, false after the patience, which is meant for an idle
  // machine as everywhere here (support/timing.hpp).
  bool says(std::string_view text, Milliseconds patience = std::chrono::seconds(10));
  bool complains(std::string_view text, Milliseconds patience = std::chrono::seconds(10));

  void type(std::string_view keys);  // to its standard input or terminal
  void end_input();
  void resize(unsigned short rows, unsigned short columns);
  void signal(int number) const;

  // The exit code, or 1000 + n if signal n killed it; nothing while it runs.
  std::optional<int> ended();
  // Waits for its end. Kills it and throws after the patience.
  int wait(Milliseconds patience = std::chrono::seconds(30));

  // While it runs.
  Milliseconds cpu_time() const;

 private:
  [[noreturn]] void become(const std::vector<std::string>& words, const ProgramOptions& options,
                           const int (&pipes)[3]);
  void read_more(Milliseconds patience);
  template <typename Done>
  bool read_until(Done done, Milliseconds patience);

  pid_t pid_ = 0;
  bool terminal_ = false;
  int in_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  std::string out_;
  std::string err_;
  std::optional<int> status_;
};

struct Finished {
  int code = 0;  // as Program::wait
  std::string out;
  std::string err;
};

// Runs it to its end.
Finished run(std::vector<std::string> words, ProgramOptions options = {});

// Whether a process of any parent runs. A zombie does not: nobody may be there to reap an orphan.
bool is_running(pid_t pid);

// User and system time it has used so far.
std::chrono::milliseconds cpu_time_of(pid_t pid);

}  // namespace holdfast::test
