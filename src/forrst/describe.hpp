// SPDX-License-Identifier: Apache-2.0
//
// What a service says about itself: its functions, their arguments, its extensions and its limits.
#pragma once

#include "forrst/registry.hpp"

#include <expected>
#include <string>

namespace holdfast::forrst {

struct DescribeOrder {
  std::string function;  // empty: all
  std::string version;   // empty: every one
  bool has_schema = true;
};

// Errors: FUNCTION_NOT_FOUND, VERSION_NOT_FOUND.
std::expected<boost::json::object, Fault> describe(const Registry& registry,
                                                   const ServiceOptions& options,
                                                   const DescribeOrder& order);

boost::json::object capabilities_json(const Registry& registry, const ServiceOptions& options);

}  // namespace holdfast::forrst
