// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/http/connection.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

namespace holdfast::net::http {

// One thread with its connections. Everything but the constructor, `add` and the counts happens on
// that thread.
class Worker {
 public:
  using Closed = std::function<void(const Peer&)>;

  Worker(Service& service, ConnectionLimits limits, Closed closed);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  boost::asio::io_context& context() { return context_; }
  Service& service() { return service_; }
  const ConnectionLimits& limits() const { return limits_; }

  // From any thread.
  void add(Channel::Socket socket, Channel::TlsContext tls, Peer peer);
  // Idle connections end now, waiting requests are asked to stop, the others after their answer.
  void drain();
  void close_all();
  std::size_t connections() const { return count_.load(std::memory_order_relaxed); }
  // Ends the thread. Connections must be closed.
  void stop();

  // For connections.
  void joined(Connection& connection);
  void left(Connection& connection);

 private:
  void sweep();

  Service& service_;
  const ConnectionLimits limits_;
  const Closed closed_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer sweeper_;
  boost::intrusive::list<Connection> connections_;
  bool is_draining_ = false;
  std::atomic<std::size_t> count_{0};
  std::thread thread_;
};

}  // namespace holdfast::net::http
