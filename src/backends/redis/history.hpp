// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/redis/server.hpp"

namespace holdfast::backends::redis {

// The stream beside a lock, the newest event first.
Task<Result<std::vector<LockEvent>>> read_history(std::shared_ptr<Server> server, LockName name,
                                                  std::uint32_t limit, runtime::LocalTime deadline);

}  // namespace holdfast::backends::redis
