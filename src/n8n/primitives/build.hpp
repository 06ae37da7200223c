// SPDX-License-Identifier: Apache-2.0
//
// One function for each of the graphs.
#pragma once

#include "n8n/primitives.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <string_view>

namespace holdfast::n8n {

struct Graph {
  boost::json::array nodes;
  boost::json::object connections;
};

Graph lock_acquisition();
Graph lock_release();
Graph rate_limit_check();
Graph error_handler_lock_cleanup();
Graph through_server(const Primitive& primitive, const Style& style);

// The input of those that are called, and of the one that n8n calls after a failure.
boost::json::object called_trigger(std::string_view slug, boost::json::object parameters);
boost::json::object error_trigger(std::string_view slug);
// What called_trigger takes for the fields of a lock.
boost::json::object acquisition_inputs();
boost::json::object release_inputs();

// A file of src/n8n/code, "lock_release/build_result".
std::string_view code_of(std::string_view file);

}  // namespace holdfast::n8n
