// SPDX-License-Identifier: Apache-2.0
#include "support/temp_folder.hpp"

#include "support/bars.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

namespace holdfast::bench {

TempFolder::TempFolder() : owner_pid_(getpid()) {
  path_ = (std::filesystem::temp_directory_path() / "holdfast-bench-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) give_up("no temporary folder can be made: " + path_);
}

TempFolder::~TempFolder() {
  if (getpid() != owner_pid_) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::make(const std::string& name) const {
  const auto folder = std::filesystem::path(path_) / name;
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  return folder.string();
}

}  // namespace holdfast::bench
