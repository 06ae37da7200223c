// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace holdfast::test {

// A folder of its own, gone with this object. In memory where the machine has such a place: a test
// of rules need not wait for a disk.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::filesystem::path in_memory = "/dev/shm";
    const bool has_memory = std::filesystem::is_directory(in_memory);
    const auto parent = has_memory ? in_memory : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "holdfast-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace holdfast::test
