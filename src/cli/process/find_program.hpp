// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <string>

namespace holdfast::cli {

// The exit codes that shells use.
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;

struct NoProgram {
  int exit_code = exit_not_found;
  std::string message;
};

NoProgram cannot_run(const std::string& word, int error_number);

// Where the program lies, found as a shell finds it: a word with a slash is a path, others are
// looked for in PATH. Asked before a lock is taken, so that a slip of the pen holds up nobody.
std::expected<std::string, NoProgram> find_program(const std::string& word);

}  // namespace holdfast::cli
