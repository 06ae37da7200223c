// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace holdfast::text {

// What somebody typed, as it may stand in a message: in double quotes, at most 64 bytes of it, with
// everything that is not printable ASCII written as \xNN, so that it cannot disturb a terminal.
std::string quoted(std::string_view text);

// "a:6379: connection refused" is said of a:6379 anyway.
std::string_view without_peer(std::string_view reason, std::string_view peer);

}  // namespace holdfast::text
