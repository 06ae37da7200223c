// SPDX-License-Identifier: Apache-2.0
//
// Who calls a function: what the service knows of a caller, from what the server knows.
#pragma once

#include <holdfast/forrst/service.hpp>

#include "server/who.hpp"

namespace holdfast::server {

// Whoever comes by the socket of frames while others need a token. No token can be called so.
inline constexpr std::string_view socket_principal_name = "forrst:socket";

// `is_known`: the server asks for tokens.
forrst::Caller caller_of(Who who, bool is_known);
// On whose behalf; the server itself, if it is nobody of ours.
Who who_of(const forrst::Caller& caller);

}  // namespace holdfast::server
