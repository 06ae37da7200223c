// SPDX-License-Identifier: Apache-2.0
//
// The command, as a process group of its own.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <expected>
#include <string>
#include <vector>

namespace holdfast::cli {

struct Launch {
  std::string path;                      // of the program
  std::vector<std::string> words;        // its arguments, its own name first
  std::vector<std::string> environment;  // NAME=VALUE, all of it
  sigset_t mask{};                       // what the command has blocked
  bool ignores_children = false;         // it has SIGCHLD ignored
  int terminal = -1;                     // give it the foreground of this terminal
  bool dies_with_us = true;              // killed if this program is
  // In memory that processes share: the number of its group, written before it becomes the program,
  // and errno if it cannot become it. Then it ends at once.
  std::atomic<pid_t>* group = nullptr;
  std::atomic<int>* failure = nullptr;
};

// Its process id, or errno if there can be no further process. It dies with the calling thread, so
// call this from the one that lasts.
std::expected<pid_t, int> launch(const Launch& launch);

// Becomes the program, with standard input, output and error as this one found them. Returns errno
// if it cannot.
int become(const std::string& path, const std::vector<std::string>& words);

// This program's environment, with NAME=VALUE of `changes` instead of what it says of NAME.
std::vector<std::string> environment_with(const std::vector<std::string>& changes);

// What of standard input, output and error was closed when the program started. A store must not
// find its files there, so they are filled at start with something that can neither be read nor
// written; the command finds them closed again.
void fill_closed_descriptors();

}  // namespace holdfast::cli
