// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <string_view>

namespace holdfast::n8n {

// The workflow in it, if n8n could run it. Errors: bad_input with the rule that is broken.
Result<boost::json::object> checked_workflow(boost::json::value value, std::string_view file_name);

}  // namespace holdfast::n8n
