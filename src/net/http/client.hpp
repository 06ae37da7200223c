// SPDX-License-Identifier: Apache-2.0
//
// An HTTP/1.1 client for one origin, on the runtime's own loop.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/task.hpp>

#include "net/http/client_message.hpp"
#include "net/http/client_stream.hpp"
#include "runtime/runtime.hpp"

#include <memory>

namespace holdfast::net::http {

class ClientPool;

class Client {
 public:
  // Connects when there is something to send. The runtime must be a LoopRuntime.
  // `broken` is called on its thread when a connection cannot be made, or breaks under a request
  // that is not sent again; not when a caller's patience ends.
  Client(std::shared_ptr<runtime::Runtime> runtime, Origin origin,
         std::function<void()> broken = {});
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // Does not wait: requests under way end a moment later. In a forked child it does nothing.
  ~Client();

  // From any thread. Any status is an answer, and no error here. Errors:
  //   unavailable      surely nothing was sent: refused, or `deadline` passed before that
  //   cancelled        `stop` fired, and surely nothing was sent
  //   outcome_unknown  sent, but no answer came: the deadline passed, `stop` fired, the connection
  //                    broke, or the answer is malformed or longer than max_body_bytes
  Task<Result<ClientResponse>> send(ClientRequest request);

  // Opens a body without an end. Its deadline, stop and repeatable are not looked at: let the
  // handle go instead. From any thread.
  std::unique_ptr<ClientStream> open_stream(const ClientRequest& request, StreamEvents events);

  const Origin& origin() const;

 private:
  bool is_of_a_parent() const;

  std::shared_ptr<ClientPool> pool_;
  const std::uint32_t generation_;
};

}  // namespace holdfast::net::http
