// SPDX-License-Identifier: Apache-2.0
#include "cli/process/find_program.hpp"

#include "text/quote.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace holdfast::cli {
namespace {

// What execvp takes where PATH is not set.
constexpr std::string_view usual_path = "/usr/local/bin:/bin:/usr/bin";

// errno, or 0 for a file that can be run.
int problem_with(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

}  // namespace

NoProgram cannot_run(const std::string& word, int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) {
    return {exit_not_found, fmt::format("{} was not found; give its path, or add its folder to "
                                        "PATH",
                                        text::quoted(word))};
  }
  return {exit_not_executable, fmt::format("{} cannot be run: {}", text::quoted(word),
                                           std::generic_category().message(error_number))};
}

std::expected<std::string, NoProgram> find_program(const std::string& word) {
  if (word.find('/') != std::string::npos) {
    if (const int problem = problem_with(word)) return std::unexpected(cannot_run(word, problem));
    return word;
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : usual_path;
  int problem = ENOENT;
  while (!word.empty()) {
    const auto end = folders.find(':');
    const auto folder = folders.substr(0, end);
    auto candidate = folder.empty() ? "./" + word : fmt::format("{}/{}", folder, word);
    const int found = problem_with(candidate);
    if (found == 0) return candidate;
    if (found == EACCES) problem = EACCES;
    if (end == std::string_view::npos) break;
    folders.remove_prefix(end + 1);
  }
  return std::unexpected(cannot_run(word, problem));
}

}  // namespace holdfast::cli
