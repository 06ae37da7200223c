// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "net/http/worker.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>

#include <map>
#include <mutex>
#include <span>

namespace holdfast::net::http {

struct Address {
  std::string host;         // "127.0.0.1", "::1", "localhost"
  std::uint16_t port = 0;   // 0: any that is free
  std::string socket_file;  // instead of both
};

// How many may be connected, in total and from one address. Shared by all listeners.
class Admission {
 public:
  Admission(std::size_t max_total, std::size_t max_per_address)
      : max_total_(max_total), max_per_address_(max_per_address) {}

  // Loopback counts only in total.
  bool enter(const Peer& peer);
  void leave(const Peer& peer);

 private:
  const std::size_t max_total_;
  const std::size_t max_per_address_;
  std::mutex mutex_;
  std::size_t total_ = 0;                                       // guarded by mutex_
  std::map<std::string, std::size_t, std::less<>> by_address_;  // guarded by mutex_
};

// Accepts on one address and spreads the connections over the workers.
class Listener {
 public:
  using Tls = std::function<Channel::TlsContext()>;  // the context in force; null without TLS

  Listener(std::span<const std::unique_ptr<Worker>> workers, Admission& admission, Tls tls);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  // Binds and begins to accept. Errors: unavailable with the address and the reason.
  Result<void> open(const Address& address);
  // No more connections from here on. On the thread of the first worker, or after it has stopped.
  void close();
  // "127.0.0.1:3009" or "unix:/run/x", as it was really bound.
  const std::string& bound() const { return bound_; }

 private:
  using Acceptor =
      boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol, Channel::Executor>;
  Result<void> listen(const boost::asio::generic::stream_protocol::endpoint& endpoint,
                      const std::string& text);
  void accept();
  void take(Worker& worker, Channel::Socket socket);
  void pause();
  Worker& least_busy();

  std::span<const std::unique_ptr<Worker>> workers_;
  Admission& admission_;
  const Tls tls_;
  Acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::string bound_;
  std::string socket_file_;
  bool is_unix_ = false;
  bool has_complained_ = false;
};

}  // namespace holdfast::net::http
