// SPDX-License-Identifier: Apache-2.0
//
// The section `server:` of config.yml; docs/configuration.md lists its keys and ranges.
#pragma once

#include <holdfast/error.hpp>

#include "server/options.hpp"
#include "text/config.hpp"

#include <string_view>

namespace holdfast::server {

// What the section says, over the defaults; without one, the defaults. Errors: bad_input with file,
// line, key and rule: "config.yml:7: server.threads must be from 1 to 64; got 0". Each value is
// checked by itself.
Result<ServerOptions> load_server_options(const text::Config& config, std::string_view file_name);

// Whether the options fit together, wherever they came from. Errors: bad_input with what to do.
Result<void> check(const ServerOptions& options);

}  // namespace holdfast::server
