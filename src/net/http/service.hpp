// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/task.hpp>

#include "net/http/message.hpp"
#include "net/http/request_reader.hpp"

namespace holdfast::net::http {

// What stands behind the connections. Called on their threads.
class Service {
 public:
  virtual ~Service() = default;
  // The request's views hold during the call; a handler that suspends takes copies.
  virtual Task<Response> handle(const Request& request) = 0;
  // The answer to what could not be understood, or took too long to come.
  virtual Response refuse(const RequestReader::Refusal& refusal, const Peer& peer) = 0;
};

}  // namespace holdfast::net::http
