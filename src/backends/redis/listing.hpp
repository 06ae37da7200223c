// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/redis/server.hpp"

namespace holdfast::backends::redis {

// One page. SCAN walks the keys, so a lock that comes or goes meanwhile may be missed, and one that
// stays is never missed; no name is on one page twice.
Task<Result<LockPage>> list_locks(std::shared_ptr<Server> server, store::ListRequest request);

}  // namespace holdfast::backends::redis
