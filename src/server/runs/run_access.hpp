// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/idempotency.hpp"
#include "server/auth/principal.hpp"

#include <string_view>

namespace holdfast::server {

// Keys that begin so are the server's own, of the header Idempotency-Key.
inline constexpr std::string_view own_run_prefix = "holdfast-server:";

// Whoever may lock a name may run under it as a key. The server's own runs are for those alone who
// may also take locks away: anybody else could read or replace another's answer.
Verb needed_verb(model::RunCommand::Verb verb, std::string_view key);

}  // namespace holdfast::server
