// SPDX-License-Identifier: Apache-2.0
#include "own_server.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace holdfast::test {

ServerFolder::ServerFolder(const char* user_for_root) {
  std::string pattern = "/tmp/holdfast-sql-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
  path_ = pattern;
  if (geteuid() != 0) return;
  user_ = user_for_root;
  const passwd* const user = getpwnam(user_for_root);
  if (user == nullptr || chown(path_.c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("there is no user " + user_);
  }
}

ServerFolder::~ServerFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> ServerFolder::as_user(std::vector<std::string> words) const {
  if (user_.empty()) return words;
  const std::vector<std::string> change{"setpriv", "--reuid=" + user_, "--regid=" + user_,
                                        "--clear-groups"};
  words.insert(words.begin(), change.begin(), change.end());
  return words;
}

std::string find_program(const std::string& name, const std::vector<std::string>& folders) {
  for (const auto& folder : folders) {
    const auto path = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(path)) return path;
  }
  return {};
}

std::string sql_text(const std::string& text) {
  std::string out = "'";
  for (const char each : text) out += each == '\'' ? std::string("''") : std::string(1, each);
  return out + "'";
}

}  // namespace holdfast::test
