// SPDX-License-Identifier: Apache-2.0
//
// check_history FILE|-: were the promises kept in this history?
#include "history/check.hpp"
#include "history/jsonl.hpp"

#include <fmt/format.h>

#include <cstring>

namespace {

using namespace holdfast::history;

constexpr int clean = 0;
constexpr int violated = 1;
constexpr int bad_input = 64;
constexpr std::size_t most_shown = 100;

constexpr const char* help =
    "usage: check_history FILE|-\n"
    "\n"
    "Reads a history of locks, one JSON object per line (docs/history-format.md), and says which\n"
    "promises were broken: a sentence for each violation, the first 100 of them, then\n"
    "\n"
    "    N operations, M events, V violations\n"
    "\n"
    "Exit code: 0 no violation, 1 some, 64 the input or the command line is not understood.\n";

int complain(std::string_view why) {
  fmt::print(stderr, "check_history: {}\n", why);
  return bad_input;
}

Parsed read(const std::string& path) {
  if (path == "-") return read_jsonl(stdin);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
  Parsed history = read_jsonl(file);
  std::fclose(file);
  if (!history) return std::unexpected(fmt::format("{}: {}", path, history.error()));
  return history;
}

int check(const History& history) {
  Checker checker;
  for (const Violation& violation : checker.check(history, most_shown)) {
    const Time at =
        violation.event < history.events.size() ? history.events[violation.event].at : 0;
    fmt::print("{} at {} ns, event {}: {}\n", to_string(violation.rule), at, violation.event + 1,
               violation.why);
  }
  fmt::print("{} operations, {} events, {} violations\n", history.attempts.size(),
             history.events.size(), checker.found());
  return checker.found() == 0 ? clean : violated;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return complain("one file is needed, or - for standard input; see --help");
  const std::string argument = arguments[1];
  if (argument == "--help" || argument == "-h") {
    fmt::print("{}", help);
    return clean;
  }
  if (argument.size() > 1 && argument.starts_with('-')) {
    return complain(fmt::format("{} is not an option; see --help", argument));
  }
  const Parsed history = read(argument);
  if (!history) return complain(history.error());
  return check(*history);
}
