// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http/call.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace holdfast::server {

// The table of routes. A pattern's segment in braces takes one segment of the path, decoded, and
// never an empty one.
class Router {
 public:
  struct Match {
    const Route* route = nullptr;  // null: no such path, or the path is there with other methods
    boost::container::small_vector<std::string_view, 2> parameters;  // still encoded
    std::string allow;  // the methods of a path that is there: "GET, DELETE"
  };

  void add(std::span<const Route> routes);
  Match find(Method method, std::string_view path) const;
  const std::vector<Route>& routes() const { return all_; }

 private:
  struct Entry {
    Route route;
    Segments segments;  // views into the pattern, a literal
  };

  std::array<std::vector<Entry>, max_segments + 1> by_length_;
  std::vector<Route> all_;
};

}  // namespace holdfast::server
