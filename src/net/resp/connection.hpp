// SPDX-License-Identifier: Apache-2.0
//
// One multiplexed connection to a server that speaks RESP: any number of callers, one socket,
// automatic pipelining.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/task.hpp>

#include "net/resp/command.hpp"
#include "net/resp/endpoint.hpp"
#include "net/resp/reply.hpp"
#include "runtime/runtime.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace holdfast::net::resp {

using runtime::LocalTime;

// How a command is sent.
struct Asking {
  unsigned replies = 1;  // several commands: the last reply is the answer
  // Only over a connection that its owner declared prepared. Over another one nothing is sent and
  // the answer is null: ask in another way.
  bool only_if_prepared = false;
};

class Connection {
 public:
  struct Events {
    // Logged in, and every command before it on an older connection has its end. Before the first
    // queued command leaves, `greeting` (commands in RESP, may be empty) is sent; its replies are
    // given to `greeted`, which may still turn the server down with `reconnect`. Both on the
    // runtime's thread, for every new connection.
    std::function<std::vector<std::string>()> greeting;
    std::function<void(std::vector<Reply>)> greeted;
    // The connection that was greeted is gone. The next one is being made already. Called before
    // the callers of lost commands learn of it.
    std::function<void(const Error&)> dropped;
  };

  // The runtime must be a LoopRuntime; its thread owns the socket.
  Connection(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint, Events events = {});
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  // Does not wait: commands in flight end a moment later. No event begins after it, but one may
  // just be running on the runtime's thread. In a forked child it does nothing.
  ~Connection();

  // Begins to connect, and goes on reconnecting (jittered back-off) until it is destroyed. Once.
  // Events may come before it returns, on the other thread: whatever they use must be in place.
  void start();

  // One command (or several, as `how` says), from any thread. While a connection is being made it
  // waits for it; while the last attempt failed and the next one is not yet due it answers at once.
  // Errors:
  //   unavailable      surely nothing was sent: not connected, or `deadline` passed before that
  //   cancelled        `stop` fired, and surely nothing was sent
  //   outcome_unknown  sent, but no reply: the deadline passed, `stop` fired, or the connection
  //                    broke. A late reply is thrown away and never given to another command.
  Task<Result<Reply>> send(std::string command, LocalTime deadline, std::stop_token stop = {},
                           Asking how = {});

  // What the greeting made of this connection, or a later command. A new one is not prepared. On
  // the runtime's thread.
  void set_prepared(bool is_prepared);
  // Ends this connection and makes a new one after a delay: the server behind it is the wrong one.
  void reconnect(Error why);
  bool is_connected() const;
  // Waits until logged in; the last error when `deadline` passes first.
  Task<Result<void>> connected(LocalTime deadline);

 private:
  class Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::net::resp
