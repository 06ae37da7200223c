// SPDX-License-Identifier: Apache-2.0
#include "server/http/router.hpp"

#include <cassert>

namespace holdfast::server {

namespace {

bool is_parameter(std::string_view segment) { return segment.starts_with('{'); }

bool fits(const Segments& pattern, const Segments& path) {
  for (std::size_t at = pattern.size(); at-- > 0;) {
    if (is_parameter(pattern[at]) ? path[at].empty() : pattern[at] != path[at]) return false;
  }
  return true;
}

}  // namespace

void Router::add(std::span<const Route> routes) {
  for (const Route& route : routes) {
    auto segments = split_path(route.pattern);
    assert(segments && "a route's pattern must be a path");
    by_length_[segments->size()].push_back({route, std::move(*segments)});
    all_.push_back(route);
  }
}

Router::Match Router::find(Method method, std::string_view path) const {
  Match match;
  const auto segments = split_path(path);
  if (!segments) return match;
  for (const Entry& entry : by_length_[segments->size()]) {
    if (!fits(entry.segments, *segments)) continue;
    const bool is_asked = entry.route.method == method ||
                          (method == Method::head && entry.route.method == Method::get);
    if (!is_asked) {
      if (!match.allow.empty()) match.allow += ", ";
      match.allow += to_string(entry.route.method);
      continue;
    }
    match.route = &entry.route;
    for (std::size_t at = 0; at < segments->size(); ++at) {
      if (is_parameter(entry.segments[at])) match.parameters.push_back((*segments)[at]);
    }
    return match;
  }
  return match;
}

}  // namespace holdfast::server
