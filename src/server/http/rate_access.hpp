// SPDX-License-Identifier: Apache-2.0
//
// Who may ask about a rate limit, and what is written down about it: the same for every endpoint
// through which one can be asked.
#pragma once

#include "model/rate_limit.hpp"
#include "server/http/call.hpp"

#include <string_view>

namespace holdfast::server {

// Whoever may lock a name may count under it. The server's own limits are for those alone who may
// also take locks away: anybody else could use up what is another's.
Verb needed_verb(model::RateCommand::Verb verb, std::string_view counted_under);

// Checks in the metrics and among the limits that are shown, resets in the audit trail.
void note_rate(Services& services, const Who& who, std::string_view counted_under,
               const model::RateCommand& command, const Result<RateOutcome>& outcome);

}  // namespace holdfast::server
