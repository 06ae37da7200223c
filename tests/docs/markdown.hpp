// SPDX-License-Identifier: Apache-2.0
//
// What a Markdown page links to, and what can be linked on it.
#pragma once

#include <cctype>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

inline std::string without_code(const std::string& page) {
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

inline std::vector<std::string> links_of(const std::string& page) {
  static const std::regex link(R"re(\]\(([^)\s]+)\)|(?:src|href)="([^"]+)")re");
  const std::string prose = without_code(page);
  std::vector<std::string> found;
  for (std::sregex_iterator it(prose.begin(), prose.end(), link), end; it != end; ++it) {
    found.push_back((*it)[1].matched ? (*it)[1].str() : (*it)[2].str());
  }
  return found;
}

// What a heading is called in a link: lower case, dashes for spaces, nothing else but words.
inline std::string anchor_of(std::string_view heading) {
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

struct Section {
  std::string anchor;
  std::string text;  // up to the next heading, of whatever level
};

inline std::vector<Section> sections_of(const std::string& page) {
  std::vector<Section> sections;
  std::istringstream lines(without_code(page));
  for (std::string line; std::getline(lines, line);) {
    const auto text = line.find_first_not_of('#');
    if (line.starts_with('#') && text != std::string::npos && line[text] == ' ') {
      sections.push_back({anchor_of(line.substr(text + 1)), {}});
    } else if (!sections.empty()) {
      sections.back().text += line + '\n';
    }
  }
  return sections;
}

inline std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> anchors;
  for (auto& section : sections_of(page)) anchors.insert(std::move(section.anchor));
  return anchors;
}

}  // namespace holdfast::test
