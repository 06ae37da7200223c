// SPDX-License-Identifier: Apache-2.0
//
// Arguments against the rules of their function.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/forrst/function.hpp>

#include <boost/json/object.hpp>

#include <vector>

namespace holdfast::forrst {

// All that is wrong, each as INVALID_ARGUMENTS with a pointer below /call/arguments; at most
// max_faults. What has a default and is missing is put in.
std::vector<Fault> check_arguments(const Function& function, boost::json::object& arguments);

// Whether the rules make sense by themselves: names that differ, bounds that can be met, a default
// that passes its own rule, rules that belong to their type. Errors: bad_input.
Result<void> check_rules(const std::vector<Rule>& rules);

// As a JSON schema of an object, for describe.
boost::json::object to_schema(const Function& function);

// "string", "integer", …
std::string_view to_string(Rule::Type type) noexcept;
std::optional<Rule::Type> parse_type(std::string_view word);

}  // namespace holdfast::forrst
