// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace holdfast::server {

namespace {

// As the shells do where there is no PATH.
constexpr std::string_view usual_path = "/usr/local/bin:/usr/bin:/bin";

bool may_be_run(const std::string& file) {
  struct stat status{};
  return stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(file.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<std::string> find_program(const std::string& word) {
  if (word.starts_with('/')) return may_be_run(word) ? std::optional(word) : std::nullopt;
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : usual_path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const auto folder = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // An empty or relative folder would depend on where the server was started.
    if (!folder.starts_with('/')) continue;
    auto file = std::string(folder) + "/" + word;
    if (may_be_run(file)) return file;
  }
  return std::nullopt;
}

}  // namespace holdfast::server
