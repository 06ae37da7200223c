// SPDX-License-Identifier: Apache-2.0
//
// What a newcomer reads first must be true: the program in the README is the one that is compiled,
// and every link leads somewhere.
#include "docs/repository.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin);
  if (from == std::string::npos) return "no " + begin;
  const auto start = from + begin.size();
  const auto stop = text.find(end, start);
  if (stop == std::string::npos) return "no " + end;
  return text.substr(start, stop - start);
}

std::string without_code(const std::string& page) {
  std::string prose;
  bool in_code = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```"))
      in_code = !in_code;
    else if (!in_code)
      prose += line + '\n';
  }
  return prose;
}

std::vector<std::string> links_of(const std::string& page) {
  static const std::regex link(R"re(\]\(([^)\s]+)\)|(?:src|href)="([^"]+)")re");
  const std::string prose = without_code(page);
  std::vector<std::string> found;
  for (std::sregex_iterator it(prose.begin(), prose.end(), link), end; it != end; ++it) {
    found.push_back((*it)[1].matched ? (*it)[1].str() : (*it)[2].str());
  }
  return found;
}

// What a heading is called in a link: lower case, dashes for spaces, nothing else but words.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ')
      anchor += '-';
    else if (std::isalnum(byte) != 0 || c == '-' || c == '_')
      anchor += static_cast<char>(std::tolower(byte));
  }
  return anchor;
}

std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> anchors;
  std::istringstream lines(without_code(page));
  for (std::string line; std::getline(lines, line);) {
    const auto text = line.find_first_not_of('#');
    if (!line.starts_with('#') || text == std::string::npos || line[text] != ' ') continue;
    anchors.insert(anchor_of(line.substr(text + 1)));
  }
  return anchors;
}

void expect_target(const fs::path& page, const std::string& link) {
  if (link.find("://") != std::string::npos) return;
  const auto mark = link.find('#');
  const fs::path target = mark == 0 ? page : page.parent_path() / link.substr(0, mark);
  ASSERT_TRUE(fs::exists(target)) << link;
  if (mark == std::string::npos) return;
  EXPECT_TRUE(anchors_of(read_text(target)).contains(link.substr(mark + 1))) << link;
}

TEST(Readme, shows_the_program_that_is_compiled) {
  const std::string shown = between(read_text(repository() / "README.md"), "```cpp\n", "```");
  const std::string compiled =
      between(read_text(repository() / "examples/first_lock.cpp"), "// [readme]\n", "// [/readme]");
  EXPECT_EQ(shown, compiled);
}

TEST(Pages, have_no_link_that_leads_nowhere) {
  for (const fs::path& page : pages()) {
    SCOPED_TRACE(page.string());
    for (const std::string& link : links_of(read_text(page))) expect_target(page, link);
  }
}

}  // namespace
}  // namespace holdfast::test
