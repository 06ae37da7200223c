// SPDX-License-Identifier: Apache-2.0
//
// The OpenAPI document of this server: src/server/openapi/openapi.json, written by hand and
// compared with the routes and with real answers by tests/server.
#pragma once

#include <boost/json/object.hpp>

#include <string_view>

namespace holdfast::server {

std::string_view openapi_json();
// The same, parsed.
const boost::json::object& openapi_document();

}  // namespace holdfast::server
