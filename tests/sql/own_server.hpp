// SPDX-License-Identifier: Apache-2.0
//
// A database server of the test's own: its files in a folder that goes away, its socket there too,
// and no port.
#pragma once

#include "support/program.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

// Below /tmp, since a socket's path is short, and owned by the user that the server runs as.
class ServerFolder {
 public:
  explicit ServerFolder(const char* user_for_root);
  ServerFolder(const ServerFolder&) = delete;
  ServerFolder& operator=(const ServerFolder&) = delete;
  ~ServerFolder();

  const std::string& path() const { return path_; }
  // The words that run this as that user.
  std::vector<std::string> as_user(std::vector<std::string> words) const;

 private:
  std::string path_;
  std::string user_;  // empty: whoever we are
};

// The first that exists of the programs of this name in these folders; empty if there is none.
std::string find_program(const std::string& name, const std::vector<std::string>& folders);

// As it stands in SQL: 'it''s'.
std::string sql_text(const std::string& text);

}  // namespace holdfast::test
