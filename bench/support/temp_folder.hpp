// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace holdfast::bench {

// A fresh folder below $TMPDIR or /tmp that goes away with its owner, in the process that made it.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();

  const std::string& path() const { return path_; }
  // A folder of that name inside of it.
  std::string make(const std::string& name) const;

 private:
  std::string path_;
  int owner_pid_;
};

}  // namespace holdfast::bench
