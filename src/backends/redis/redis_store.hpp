// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/redis/options.hpp"
#include "store/store.hpp"

#include <memory>

namespace holdfast::backends::redis {

// A lock space inside a Redis or Valkey server. Connects, logs in and looks at what it finds
// before it returns. Errors: unavailable (with the reason), unsupported (a cluster).
Result<std::shared_ptr<store::Store>> open_redis_store(Options options,
                                                       std::shared_ptr<runtime::Runtime> runtime);

}  // namespace holdfast::backends::redis
