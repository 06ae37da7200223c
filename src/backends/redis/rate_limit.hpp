// SPDX-License-Identifier: Apache-2.0
//
// Checks of rate limits as Redis sees them: what goes into the scripts and what comes out. No
// socket here, so that the twin test can drive the same bytes.
#pragma once

#include "backends/redis/wire.hpp"

namespace holdfast::backends::redis {

// One command in RESP. `name` is one of model::limit_name. A dialect has no part in it.
std::string encode_rate(const Scripts& scripts, const LockName& name,
                        const model::RateCommand& command, Sending sending);

// What the script answered. Errors: outcome_unknown, if it is not an answer of ours.
Result<store::Reply> decode_rate(const model::RateCommand& command, const redisReply& reply);

}  // namespace holdfast::backends::redis
