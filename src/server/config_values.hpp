// SPDX-License-Identifier: Apache-2.0
//
// What single texts of the server's options must be. Errors: bad_input, with the text and the rule.
#pragma once

#include <holdfast/error.hpp>

#include <string_view>

namespace holdfast::server {

// As it may stand in a Host header: "locks.example.org", "10.0.0.1:3009", "[::1]".
Result<void> check_host(std::string_view host);
// As browsers send it: "https://app.example.org", "http://localhost:8080".
Result<void> check_origin(std::string_view origin);
// An http:// or https:// URL with a host.
Result<void> check_upstream(std::string_view url);
// How requests call an upstream.
Result<void> check_upstream_name(std::string_view name);

}  // namespace holdfast::server
