// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of an answer to what it says. Strict: what can be read in two ways is not read.
#pragma once

#include <holdfast/forrst/client.hpp>

#include "forrst/transport.hpp"

#include <expected>
#include <string>
#include <string_view>

namespace holdfast::forrst {

// Says what is wrong: "`id` is not that of the request".
std::expected<CallReply, std::string> decode_reply(std::string_view body, std::string_view id);

// What it means that an answer could not be read. A refusal of whatever stands in front of the
// server did nothing; behind every other one the call may have run.
Error unreadable(const Answer& answer, std::string_view peer, std::string_view why);

}  // namespace holdfast::forrst
