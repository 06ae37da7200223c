// SPDX-License-Identifier: Apache-2.0
//
// The answers in n8n's shape: what a primitive of the original puts out, and what we add to it.
#pragma once

#include <holdfast/n8n.hpp>

#include <boost/json/object.hpp>

namespace holdfast::n8n {

boost::json::object to_json(const Lock& lock);
boost::json::object to_json(const Release& release);
boost::json::object to_json(std::string_view scope, const RateOutcome& outcome);
boost::json::object to_json(const CleanUp& clean_up);

// All scopes that were released, in order.
std::vector<std::string> scopes_of(const CleanUp& clean_up);

}  // namespace holdfast::n8n
