// SPDX-License-Identifier: Apache-2.0
//
// Histories as short as a test wants them. A line of a story is a time in milliseconds, an event,
// the attempt, and what else there is to say:
//
//     10 asked b fifo waits process=p2
//     12 queued b place=5
//     53 granted b fence=11 until=147
//
// What is not said is what one would expect: the name is `lock`, an attempt has a process and an
// owner of its own, its ttl is 100 ms, and the resource accepts.
#pragma once

#include "history/check.hpp"
#include "history/jsonl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::history::test {

namespace story_detail {

inline bool is_time(std::string_view key) {
  return key == "until" || key == "since" || key == "ttl" || key == "give_up" || key == "step" ||
         key == "patience" || key == "max_hold" || key == "least_ttl";
}

inline bool is_bare(std::string_view value) {
  return value == "true" || value == "false" ||
         value.find_first_not_of("-0123456789") == std::string_view::npos;
}

inline std::string field(const std::string& key, const std::string& value) {
  if (is_time(key) && value == "never") return fmt::format(R"(,"{}_ns":"never")", key);
  if (is_time(key)) return fmt::format(R"(,"{}_ns":{})", key, std::stoll(value) * 1'000'000);
  if (is_bare(value)) return fmt::format(R"(,"{}":{})", key, value);
  return fmt::format(R"(,"{}":"{}")", key, value);
}

// What an event says unless the line says otherwise.
inline std::vector<std::pair<std::string, std::string>> usual(const std::string& event,
                                                              const std::string& op) {
  if (event == "asked") return {{"name", "lock"}, {"process", op}, {"ttl", "100"}};
  if (event == "read" || event == "wrote") return {{"accepted", "true"}};
  return {};
}

inline std::string to_json(const std::string& line) {
  std::istringstream words(line);
  std::string at;
  std::string event;
  words >> at >> event;
  std::string json = fmt::format(R"({{"at_ns":{},"event":"{}")", std::stoll(at) * 1'000'000, event);
  std::string op;
  std::vector<std::pair<std::string, std::string>> said;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals != std::string::npos)
      said.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    else if (word == "refused")
      said.emplace_back("accepted", "false");
    else if (word == "fifo" || word == "waits" || word == "reentrant" || word == "renews" ||
             word == "claim" || word == "delays")
      said.emplace_back(word, "true");
    else
      op = word;
  }
  if (!op.empty()) json += field("op", op);
  for (const auto& [key, value] : said) json += field(key, value);
  for (const auto& [key, value] : usual(event, op)) {
    const bool is_said =
        std::ranges::any_of(said, [&](const auto& each) { return each.first == key; });
    if (!is_said) json += field(key, value);
  }
  return json + "}\n";
}

}  // namespace story_detail

inline History story(const std::string& text) {
  std::string json;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') != std::string::npos) json += story_detail::to_json(line);
  }
  Parsed history = read_jsonl(json);
  if (!history) throw std::runtime_error(history.error() + "\n" + json);
  return *std::move(history);
}

// A part of a story, and what it becomes. An empty `from` adds lines by their time.
struct Edit {
  std::string from;
  std::string to;
};

namespace story_detail {

inline long long time_of(const std::string& line) { return std::stoll(line); }

// After every line that is not later.
inline void insert(std::vector<std::string>& lines, const std::string& line) {
  const auto place = std::ranges::upper_bound(lines, time_of(line), {}, time_of);
  lines.insert(place, line);
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) found.push_back(line.substr(begin));
  }
  return found;
}

}  // namespace story_detail

// Each edit replaces the one line that begins with `from` by the lines of `to`, each at its time.
inline std::string edited(const std::string& text, const std::vector<Edit>& edits) {
  auto lines = story_detail::lines_of(text);
  for (const Edit& edit : edits) {
    if (!edit.from.empty()) {
      const auto count = std::erase_if(
          lines, [&](const std::string& line) { return line.starts_with(edit.from); });
      if (count != 1)
        throw std::runtime_error(fmt::format("{} lines begin with {}", count, edit.from));
    }
    for (const auto& line : story_detail::lines_of(edit.to)) story_detail::insert(lines, line);
  }
  std::string result;
  for (const std::string& line : lines) result += line + "\n";
  return result;
}

inline std::vector<Violation> check(const History& history) {
  return Checker().check(history, 1000);
}

inline std::string sentences(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    text += fmt::format("{}: {}\n", to_string(violation.rule), violation.why);
  }
  return text;
}

}  // namespace holdfast::history::test
