// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "server/auth/principal.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

// The tokens of one file, as they were when it was read. Never changes, so any thread may ask; a
// reload makes a new one.
class Tokens {
 public:
  // Errors: bad_input with file, line and rule, or with what is wrong with the file itself.
  static Result<std::shared_ptr<const Tokens>> load(const std::string& path);
  // Of no file: for tests, and for principals from elsewhere. No secret hash stands twice.
  explicit Tokens(std::vector<Principal> principals);

  // Whose token this is; null for one that is unknown, expired, empty or too long. How long it
  // takes tells nothing about the tokens.
  std::shared_ptr<const Principal> find(std::string_view presented, text::WallTime now) const;
  std::shared_ptr<const Principal> find(std::string_view presented) const;

  std::size_t size() const { return principals_.size(); }

 private:
  std::vector<std::shared_ptr<const Principal>> principals_;  // by their hashes
};

}  // namespace holdfast::server
