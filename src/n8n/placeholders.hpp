// SPDX-License-Identifier: Apache-2.0
//
// What stands in a template for values of its environment: {{@env:credentials.redis.id}}, also
// written {{INTERPOLATE_env:…}}, and {{@uuid:some-word}}.
#pragma once

#include <holdfast/error.hpp>

#include "n8n/env.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace holdfast::n8n {

std::string env_placeholder(std::string_view path);
std::string uuid_placeholder(std::string_view slug);

// Whether any text in it has a placeholder.
bool has_placeholder(const boost::json::value& value);

// Replaces all of them in some workflows. A list becomes JSON inside its text, which is a literal
// in a Code node; displayName and workflowNamePostfix may be missing and are then empty, and
// lockScopes is []. Errors: bad_input that names every id, of all the workflows, that is missing or
// only an example.
Result<boost::json::array> resolve(boost::json::array workflows, const Env& env,
                                   std::string_view env_file);

// The same for a part that is added to a workflow of that name: first what the environment file
// has, then the ids of nodes.
Result<void> resolve_env(boost::json::value& part, const Env& env, std::string_view env_file);
void resolve_uuids(boost::json::value& part, std::string_view workflow);

}  // namespace holdfast::n8n
