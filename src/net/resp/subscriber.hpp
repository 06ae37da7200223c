// SPDX-License-Identifier: Apache-2.0
//
// The connection for messages. It subscribes to a fixed set of channels, again after every
// reconnect, and asks for a sign of life now and then: a dead one would otherwise be silent.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/task.hpp>

#include "net/resp/endpoint.hpp"
#include "net/resp/reply.hpp"
#include "runtime/runtime.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::net::resp {

class Subscriber {
 public:
  // All on the runtime's thread.
  struct Events {
    // A message; the payload is a string, or an array or nil for __redis__:invalidate.
    std::function<void(std::string_view channel, const redisReply& payload)> message;
    // Every channel is confirmed. `client_id` is the server's number of this connection, for
    // CLIENT TRACKING … REDIRECT; `answers` are the replies to the questions, which may be errors.
    std::function<void(std::uint64_t client_id, const std::vector<Reply>& answers)> subscribed;
    std::function<void(const Error&)> dropped;
    // Commands (in RESP) that are sent on every new connection before it subscribes.
    std::vector<std::string> questions;
  };

  Subscriber(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint,
             std::vector<std::string> channels, Events events);
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  ~Subscriber();

  // Begins to connect, and goes on reconnecting until it is destroyed. Once. Events may come before
  // it returns, on the other thread: whatever they use must be in place.
  void start();

  // Ends this subscription and makes a new one after a delay: the server behind it is the wrong
  // one. On the runtime's thread.
  void subscribe_anew(Error why);

  bool is_subscribed() const;
  // Waits until every channel is confirmed; the last error when `deadline` passes first.
  Task<Result<void>> subscribed(runtime::LocalTime deadline);

 private:
  class Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::net::resp
