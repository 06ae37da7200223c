// SPDX-License-Identifier: Apache-2.0
//
// server.forrst: how the server speaks Forrst, and the functions that it offers.
#pragma once

#include "server/config_reader.hpp"
#include "server/options.hpp"

#include <string>
#include <vector>

namespace holdfast::server {

Result<void> read_forrst(const ConfigValue& value, ForrstOptions& out);

// Whether the options make sense by themselves, and each function does. Errors: bad_input.
Result<void> check_forrst(const ForrstOptions& options);

// What an operator should know although the server can start: programs that are not there.
std::vector<std::string> forrst_warnings(const ForrstOptions& options);

}  // namespace holdfast::server
