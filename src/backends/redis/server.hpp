// SPDX-License-Identifier: Apache-2.0
//
// One server: the connection for commands, with an answer for every error it can give.
#pragma once

#include "backends/redis/options.hpp"
#include "backends/redis/scripts.hpp"
#include "net/resp/connection.hpp"
#include "store/store.hpp"

#include <atomic>
#include <functional>

namespace holdfast::backends::redis {

class Server {
 public:
  Server(std::shared_ptr<runtime::Runtime> runtime, const Options& options);

  // One step.
  Task<Result<store::Reply>> apply(store::Request request);
  // Any other command, given by its RESP bytes. Error replies are errors here.
  Task<Result<net::resp::Reply>> ask(std::string command, runtime::LocalTime deadline);

  Task<Result<void>> connected(runtime::LocalTime deadline);
  const Dialect& dialect() const { return dialect_; }
  const std::string& peer() const { return peer_; }
  const std::shared_ptr<runtime::Runtime>& runtime() const { return runtime_; }

 private:
  // True if it makes sense to ask again: the error passes, and there is time.
  Task<bool> let_pass(Error error, unsigned failures, runtime::LocalTime deadline, bool reconnect);

  const std::shared_ptr<runtime::Runtime> runtime_;
  const std::string peer_;
  const Dialect dialect_;
  const Scripts scripts_;
  // Whatever is behind the address may have changed: compare fences with its clock.
  const std::shared_ptr<std::atomic<bool>> resync_ = std::make_shared<std::atomic<bool>>(true);
  net::resp::Connection connection_;
};

}  // namespace holdfast::backends::redis
