// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::cli {

// True if there is a person to ask: standard input and standard error are terminals.
bool can_ask();

// Asks on standard error and reads one line. True for y and yes; no is the default, and the end of
// the input is one too.
bool confirmed_by_user(std::string_view question);

// Whether an answer means yes.
bool means_yes(std::string_view answer);

}  // namespace holdfast::cli
