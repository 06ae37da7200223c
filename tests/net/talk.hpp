// SPDX-License-Identifier: Apache-2.0
//
// A connection in the words of a test.
#pragma once

#include "net/resp/connection.hpp"
#include "net/resp/subscriber.hpp"
#include "runtime/runtime.hpp"
#include "runtime/spawn.hpp"
#include "support/redis_server.hpp"
#include "support/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

namespace holdfast::test {

using namespace std::chrono_literals;
using net::resp::Endpoint;
using net::resp::Reply;

// Begins as soon as it is made.
class Connection : public net::resp::Connection {
 public:
  Connection(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint, Events events = {})
      : net::resp::Connection(std::move(runtime), std::move(endpoint), std::move(events)) {
    start();
  }
};

class Subscriber : public net::resp::Subscriber {
 public:
  Subscriber(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint,
             std::vector<std::string> channels, Events events)
      : net::resp::Subscriber(std::move(runtime), std::move(endpoint), std::move(channels),
                              std::move(events)) {
    start();
  }
};

inline Endpoint endpoint_at(std::uint16_t port) {
  Endpoint endpoint;
  endpoint.port = port;
  // Sanitizers and a busy machine are slow; tests of a stall set a shorter one.
  endpoint.command_timeout = 20s;
  endpoint.connect_timeout = 20s;
  return endpoint;
}

inline std::string to_text(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_INTEGER) return std::to_string(reply.integer);
  return reply.str ? std::string(reply.str, reply.len) : std::string();
}

inline Result<std::string> to_text(Result<Reply> reply) {
  if (!reply) return std::unexpected(std::move(reply.error()));
  return to_text(**reply);
}

// Blocks until it ends. A test that sets no patience has as much as a busy machine needs.
template <typename Patience = std::chrono::seconds>
Result<std::string> ask(net::resp::Connection& connection, std::string command,
                        Patience patience = 60s, std::stop_token stop = {}) {
  const auto deadline = runtime::LocalClock::now() + patience;
  return to_text(
      runtime::run_blocking(connection.send(std::move(command), deadline, std::move(stop))));
}

// Begins it on the runtime's thread or here; the future has its end.
inline std::future<Result<std::string>> begin_asking(Connection& connection, std::string command,
                                                     std::chrono::milliseconds patience = 60s,
                                                     std::stop_token stop = {}) {
  auto end = std::make_shared<std::promise<Result<std::string>>>();
  auto future = end->get_future();
  const auto deadline = runtime::LocalClock::now() + patience;
  runtime::spawn(connection.send(std::move(command), deadline, std::move(stop)),
                 [end](Result<Reply>&& reply) { end->set_value(to_text(std::move(reply))); });
  return future;
}

inline Result<void> wait_connected(Connection& connection,
                                   std::chrono::milliseconds patience = 60s) {
  return runtime::run_blocking(connection.connected(runtime::LocalClock::now() + patience));
}

// Runs it on the runtime's thread, in one turn, and waits for its end.
inline void on_the_loop(runtime::Runtime& runtime, std::function<void()> job) {
  std::promise<void> done;
  runtime.post([&] {
    job();
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace holdfast::test
