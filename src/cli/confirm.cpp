// SPDX-License-Identifier: Apache-2.0
#include "cli/confirm.hpp"

#include "cli/console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <string>

namespace holdfast::cli {
namespace {

constexpr std::size_t longest_answer = 1024;

std::string read_line() {
  std::string line;
  char c = 0;
  while (line.size() < longest_answer) {
    const auto got = read(STDIN_FILENO, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    // A line without an end is half an answer.
    if (got <= 0) return "";
    if (c == '\n') return line;
    line += c;
  }
  return "";
}

}  // namespace

bool can_ask() { return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1; }

bool means_yes(std::string_view answer) {
  const auto begin = answer.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return false;
  std::string word(answer.substr(begin, answer.find_last_not_of(" \t\r") + 1 - begin));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word == "y" || word == "yes";
}

bool confirmed_by_user(std::string_view question) {
  (void)write_all(STDERR_FILENO, fmt::format("{} [y/N] ", question));
  return means_yes(read_line());
}

}  // namespace holdfast::cli
