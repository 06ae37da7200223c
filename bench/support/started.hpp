// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::bench {

std::string contents(const std::filesystem::path& path);

// A program that ends with this object, or with the thread that made it, by TERM. Its standard
// error goes to a file, if one is given.
class Started {
 public:
  explicit Started(std::vector<std::string> words, const std::string& error_file = {});
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  ~Started();

  pid_t pid() const { return pid_; }
  // Of all its threads.
  double cpu_ms() const;
  double resident_mb() const;       // now
  double most_resident_mb() const;  // the most it ever had

 private:
  double status_mb(std::string_view field) const;

  pid_t pid_ = 0;
};

}  // namespace holdfast::bench
