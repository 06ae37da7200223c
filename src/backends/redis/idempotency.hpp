// SPDX-License-Identifier: Apache-2.0
//
// Runs as Redis sees them: what goes into the script and what comes out. No socket here, so that
// the twin test can drive the same bytes.
#pragma once

#include "backends/redis/wire.hpp"

namespace holdfast::backends::redis {

// One command in RESP. A dialect has no part in it: the layout is that of NestJS RedisX always.
std::string encode_run(const Scripts& scripts, const LockName& name,
                       const model::RunCommand& command, Sending sending);

// What the script answered. Texts of RedisX that are longer than ours may be, or no UTF-8, are cut
// and mended; results are as they are. Errors: outcome_unknown, if it is not an answer of ours.
Result<store::Reply> decode_run(const redisReply& reply);

}  // namespace holdfast::backends::redis
