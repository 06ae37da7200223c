// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::test {

// A page of docs/, for tests that compare what a page says with what the code does.
inline std::string read_document(std::string_view name) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::ifstream file(root / "docs" / name);
  if (!file) throw std::runtime_error("cannot read docs/" + std::string(name));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace holdfast::test
