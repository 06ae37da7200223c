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
  bool dies_with_us = true;              // killed if this program is
  std::atomic<pid_t>* group = nullptr;   // where the guard finds the number of its group
};

// Its process id, or errno if it could not be run. It dies with the calling thread, so call this
// from the one that lasts.
std::expected<pid_t, int> launch(const Launch& launch);

// This program's environment, with NAME=VALUE of `changes` instead of what it says of NAME.
std::vector<std::string> environment_with(const std::vector<std::string>& changes);

// What of standard input, output and error was closed when the program started. A store must not
// find its files there, so they are filled at start with something that can neither be read nor
// written; the command finds them closed again.
void fill_closed_descriptors();

}  // namespace holdfast::cli
