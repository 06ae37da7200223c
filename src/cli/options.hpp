// SPDX-License-Identifier: Apache-2.0
//
// Options that several commands have, declared once so that they mean the same everywhere.
#pragma once

#include <holdfast/options.hpp>

#include "cli/syntax.hpp"

#include <optional>
#include <string>

namespace holdfast::cli {

// An option whose value is a duration, one integer and one unit. Anything else is refused.
Option& add_duration(Syntax& syntax, std::string names, std::optional<Duration>& value,
                     std::string text);

// The positional argument NAME.
Option& add_name(Syntax& syntax, std::string& name);

// --owner, or HOLDFAST_OWNER where the option is not given.
Option& add_owner(Syntax& syntax, std::string& owner);

// --fence: the newest lease that is meant.
Option& add_fence(Syntax& syntax, std::optional<Fence>& fence);

}  // namespace holdfast::cli
