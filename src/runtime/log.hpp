// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::runtime {

// To spdlog's logger "holdfast" if the program registered one, else to standard error. Never an
// owner token.
void log_warning(std::string_view message) noexcept;

// For a program that has its own way to say things: every warning goes there instead, from any
// thread. Null: back to the logger.
using WarningSink = void (*)(std::string_view message);
void send_warnings_to(WarningSink sink) noexcept;

}  // namespace holdfast::runtime
