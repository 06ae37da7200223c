// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/object.hpp>

#include <string>

namespace holdfast::server {

// An OpenAPI document as HTML for people: every route with its fields, its answers and a line to
// try. It needs nothing from elsewhere and no script. The document must be well-formed.
std::string page_of(const boost::json::object& document);

}  // namespace holdfast::server
