// SPDX-License-Identifier: Apache-2.0
//
// Every curl in the pages about the server is run, in order, against a server of its own, and must
// answer the status that stands behind it.
#include "docs/repository.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <utility>

namespace holdfast::test {
namespace {

// The blocks of one kind, in order.
std::vector<std::string> blocks_of(const std::string& page, const std::string& kind) {
  std::vector<std::string> blocks;
  std::string block;
  bool in_block = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!in_block) {
      in_block = line == "```" + kind;
      continue;
    }
    if (line != "```") {
      block += line + '\n';
      continue;
    }
    blocks.push_back(std::exchange(block, {}));
    in_block = false;
  }
  return blocks;
}

// What a page has in its blocks of shell from the first that calls curl on, one after the other.
std::string script_of(const std::string& page) {
  std::string script;
  for (const auto& block : blocks_of(page, "sh")) {
    if (!script.empty() || block.find("curl") != std::string::npos) script += block;
  }
  return script;
}

// The configuration that a page begins with, where its lines need one.
std::string configuration_of(const std::string& page_name, const std::string& page) {
  return page_name == "forrst.md" ? blocks_of(page, "yaml").front() : "";
}

std::vector<std::string> numbers_behind(const std::string& script) {
  static const std::regex number(R"(#\s([1-5][0-9][0-9])$)", std::regex::multiline);
  std::vector<std::string> found;
  for (std::sregex_iterator it(script.begin(), script.end(), number), end; it != end; ++it) {
    found.push_back((*it)[1].str());
  }
  return found;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// "address=127.0.0.1:41234" of the server's first line.
std::string address_in(const std::string& log) {
  static const std::regex line(R"(address=(127\.0\.0\.1:\d+))");
  std::smatch match;
  return std::regex_search(log, match, line) ? match[1].str() : std::string();
}

class Curl : public testing::TestWithParam<std::string> {};

TEST_P(Curl, every_line_answers_what_the_page_says) {
  const auto page = read_text(repository() / "docs" / GetParam());
  const auto script = script_of(page);
  const auto expected = numbers_behind(script);
  ASSERT_FALSE(expected.empty());
  const TemporaryFolder folder;
  const auto in_folder = [&](const char* name) { return (folder.path() / name).string(); };
  std::ofstream(in_folder("system.yml")) << configuration_of(GetParam(), page);
  Program server({HOLDFAST_BINARY, "--store", "memory:", "serve", "--listen", "127.0.0.1:0"},
                 {.environment = {"HOME=" + folder.path().string(),
                                  "HOLDFAST_SYSTEM_CONFIG=" + in_folder("system.yml")}});
  ASSERT_TRUE(server.complains("listening")) << server.err();
  // The function writes down each status, and hands on what curl would have printed.
  const auto prologue = "curl() { command curl --silent --output '" + in_folder("body") +
                        "' --write-out '%{http_code} %{url}\\n' \"$@\" >>'" +
                        in_folder("statuses") + "'; cat '" + in_folder("body") + "'; echo; }\n";
  const auto finished =
      run({"bash", "-c", prologue + replaced(script, "localhost:3009", address_in(server.err()))});
  std::istringstream statuses(read_text(in_folder("statuses")));
  std::vector<std::string> answered;
  for (std::string line; std::getline(statuses, line);) {
    const auto at = answered.size();
    answered.push_back(line.substr(0, 3));
    ASSERT_LT(at, expected.size()) << "a curl without a number behind it; the last was " << line;
    EXPECT_EQ(answered[at], expected[at]) << "call " << at + 1 << ": " << line;
  }
  EXPECT_EQ(answered.size(), expected.size()) << finished.out << finished.err;
}

INSTANTIATE_TEST_SUITE_P(Pages, Curl,
                         testing::Values("http-api.md", "server.md", "rate-limits.md", "forrst.md"),
                         [](const auto& page) {
                           auto name = page.param.substr(0, page.param.find('.'));
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::test
