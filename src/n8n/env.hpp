// SPDX-License-Identifier: Apache-2.0
//
// The environment file of a set of workflows:
//
//     displayName: Shop
//     workflowNamePostfix: " (staging)"
//     credentials:
//       redis: {id: "cRd1", name: "Redis"}
//     workflows:
//       lock_acquisition: {id: "wF1"}
//     lockScopes: [orders]
//
// Other keys are somebody else's and are left alone.
#pragma once

#include <holdfast/error.hpp>

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::n8n {

class Env {
 public:
  // Errors: bad_input with file and line; limit_reached for what is too long.
  static Result<Env> parse(std::string_view yaml, std::string_view file_name);

  // The value at a path such as "credentials.redis.id"; nothing if there is none. Scalars are
  // texts, whatever YAML would take them for: an id may consist of digits.
  const boost::json::value* find(std::string_view path) const;

  // The text at a path, if it says something: neither "" nor "placeholder" nor "your-…", which
  // stand in examples.
  std::optional<std::string> id(std::string_view path) const;

  // Without what is no text.
  std::vector<std::string> lock_scopes() const;

 private:
  boost::json::value root_;
};

}  // namespace holdfast::n8n
