// SPDX-License-Identifier: Apache-2.0
//
// server.rate_limits: how often the server's own endpoints may be called.
#pragma once

#include "server/config_reader.hpp"
#include "server/options.hpp"

#include <string_view>
#include <vector>

namespace holdfast::server {

Result<void> read_rate_limits(const ConfigValue& value, std::vector<EndpointLimit>& out);

// Whether each of them limits something. Errors: bad_input.
Result<void> check_rate_limits(const std::vector<EndpointLimit>& limits);

// `path` of an entry against the pattern of a route.
bool covers(std::string_view path, std::string_view pattern);
// What tells whether the server works must answer while everything else is limited.
bool is_never_limited(std::string_view pattern);

std::string_view to_string(EndpointLimit::Per per);

}  // namespace holdfast::server
