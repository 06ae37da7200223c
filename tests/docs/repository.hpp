// SPDX-License-Identifier: Apache-2.0
//
// The files of the repository, for tests that compare what pages say with what is there.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::test {

inline std::filesystem::path repository() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Every page that is part of the project: the ones at the top, and all of docs/.
inline std::vector<std::filesystem::path> pages() {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(repository())) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  for (const auto& entry : fs::recursive_directory_iterator(repository() / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  return found;
}

}  // namespace holdfast::test
