// SPDX-License-Identifier: Apache-2.0
//
// Pieces of an OpenAPI document as HTML.
#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

namespace holdfast::server {

// With <, >, & and quotes written so that they mean themselves.
std::string escaped(std::string_view text);
// The same, with what stands between backquotes as code.
std::string prose(std::string_view text);

// The text of a field; empty if it has none.
std::string_view text_of(const boost::json::object& object, std::string_view key);
// What it refers to, if it is a reference; else itself.
const boost::json::object& resolved(const boost::json::object& document,
                                    const boost::json::object& object);

// What a value may be: `string`, `integer or null`, a link to a schema, the words of a choice.
std::string type_of(const boost::json::object& schema);
// A table of the fields of an object.
std::string fields_of(const boost::json::object& schema);

}  // namespace holdfast::server
