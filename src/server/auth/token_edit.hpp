// SPDX-License-Identifier: Apache-2.0
//
// Changes a token file: all of it or nothing, whoever else changes it at the same time, and
// whenever the power fails. Comments and order stay, and so do its owner and mode.
#pragma once

#include <holdfast/error.hpp>

#include "server/auth/principal.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::server {

// How long to wait for somebody else who is changing the file.
inline constexpr std::chrono::seconds edit_patience{10};

// Errors: bad_input for a file that Tokens::load would refuse, for a name or token that it has
// already, and for one that is not there; unavailable if it cannot be written, and then nothing was
// changed.

// Makes the file, for this user alone, if there is none.
Result<void> add_token(const std::string& path, const Principal& principal);
Result<void> revoke_token(const std::string& path, std::string_view name);

}  // namespace holdfast::server
