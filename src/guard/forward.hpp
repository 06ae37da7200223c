// SPDX-License-Identifier: Apache-2.0
//
// A request as the upstream gets it.
#pragma once

#include "guard/options.hpp"

#include <boost/container/small_vector.hpp>

#include <string>
#include <string_view>

namespace holdfast::guard {

// Fields that speak of one connection and end with it, those that Connection names among them.
class HopFields {
 public:
  // Every value of a Connection header.
  void add_named(std::string_view connection);
  bool contains(std::string_view name) const;
  // Whether Connection had this word.
  bool names(std::string_view word) const;

 private:
  boost::container::small_vector<std::string_view, 4> named_;
};

// Method, target and fields, then the body. The length is told once, in one way; nobody can take
// away or add a field by way of another.
std::string forwarded(const Options& options, const net::http::Request& request);

}  // namespace holdfast::guard
