// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::runtime {

// To spdlog's logger "holdfast" if the program registered one, else to standard error. Never an
// owner token.
void log_warning(std::string_view message) noexcept;

}  // namespace holdfast::runtime
