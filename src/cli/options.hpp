// SPDX-License-Identifier: Apache-2.0
//
// Options that several commands have, declared once so that they mean the same everywhere.
#pragma once

#include <holdfast/options.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace holdfast::cli {

// An option whose value is a duration, one integer and one unit. Anything else is refused.
CLI::Option* add_duration(CLI::App& app, std::string names, std::optional<Duration>& value,
                          std::string description);

// The positional argument NAME.
CLI::Option* add_name(CLI::App& app, std::string& name);

// --owner, or HOLDFAST_OWNER where the option is not given.
CLI::Option* add_owner(CLI::App& app, std::string& owner);

}  // namespace holdfast::cli
