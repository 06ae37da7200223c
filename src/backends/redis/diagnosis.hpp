// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/redis/server.hpp"
#include "backends/redis/subscription.hpp"

#include <string>
#include <vector>

namespace holdfast::backends::redis {

// Takes and gives back a lock of its own, and sends a message to its own channel: whatever this
// user may not do is found now, and not in the middle of a hand-over.
Task<Result<void>> probe_rights(std::shared_ptr<Server> server, std::string channel,
                                runtime::LocalTime deadline);

// What the set-up of this server means for its locks, one sentence for each thing worth knowing.
// What the server will not tell is left out.
Task<Result<std::vector<std::string>>> look_for_trouble(
    std::shared_ptr<Server> server, std::shared_ptr<const Subscription> subscription,
    runtime::LocalTime deadline);

// How far the server's clock is ahead of ours. The answer is taken to be from the middle of the
// round trip, so it is wrong by half of one at most. Errors: unavailable.
Task<Result<Micros>> measure_clock_offset(std::shared_ptr<Server> server,
                                          runtime::LocalTime deadline);

}  // namespace holdfast::backends::redis
