// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.hpp"

#include <string>
#include <string_view>

namespace holdfast::cli {

// holdfast(1). The date is YYYY-MM-DD.
std::string overview_page(std::string_view date);
// holdfast-COMMAND(1)
std::string man_page(const Command& command, std::string_view date);

}  // namespace holdfast::cli
