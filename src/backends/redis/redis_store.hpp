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

// The same for one of several, where a server that is away is no failure: it goes on connecting.
// `ready` ends when the server has answered, with the errors of open_redis_store; it must be
// awaited.
struct Connecting {
  std::shared_ptr<store::Store> store;
  Task<Result<void>> ready;
};
Connecting connect_redis_store(Options options, std::shared_ptr<runtime::Runtime> runtime);

}  // namespace holdfast::backends::redis
