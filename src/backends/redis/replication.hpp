// SPDX-License-Identifier: Apache-2.0
//
// Leases that count only once enough replicas have them. WAIT speaks of what its own connection
// wrote, and blocks whatever stands behind it: hence a connection of its own.
#pragma once

#include "backends/redis/server.hpp"

#include <mutex>
#include <vector>

namespace holdfast::backends::redis {

class Replication : public std::enable_shared_from_this<Replication> {
 public:
  Replication(std::shared_ptr<Server> server, const Options& options);

  Server& server() { return *server_; }

  // A step whose grant is confirmed by the replicas before it is told, and so is a fence that was
  // accepted. Errors: also not_replicated; then the lease is in the store, and the caller gives it
  // back. A fence then stays the newest, which is harmless.
  Task<Result<store::Reply>> apply(store::Request request);

 private:
  struct Turn;

  Task<Result<std::uint32_t>> confirmations(runtime::LocalTime deadline);
  Task<bool> run_rounds();

  const std::shared_ptr<Server> server_;
  const std::uint32_t wanted_;
  const Micros timeout_;

  std::mutex mutex_;
  std::vector<std::shared_ptr<Turn>> next_;  // guarded by mutex_
  bool running_ = false;                     // guarded by mutex_
};

}  // namespace holdfast::backends::redis
