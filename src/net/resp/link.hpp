// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "net/resp/endpoint.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::net::resp {

// One socket from its making to its end: TCP or a socket file, plain or with TLS. Used on the
// loop's thread, except for `write_now`. Whoever holds it keeps the descriptor from being reused.
class Link : public std::enable_shared_from_this<Link> {
 public:
  using Opened = std::move_only_function<void(Result<void>)>;
  using Moved = std::move_only_function<void(boost::system::error_code, std::size_t bytes)>;

  Link(boost::asio::io_context& context, Endpoint endpoint);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Finds the host, connects and shakes hands. Calls back exactly once, never inside the call, and
  // soon after `close`. The error is a reason without the peer's name.
  void open(Opened opened);
  // Each calls back exactly once; after `close` with an error.
  void read(std::span<char> into, Moved moved);
  void write(std::string_view from, Moved moved);
  void when_writable(Moved moved);

  bool is_encrypted() const { return encrypted_.has_value(); }
  bool is_closed() const { return is_closed_; }
  // What was written before still reaches the other side.
  void close();
  // The same, but what the other side has not taken by then never reaches it: a command that was
  // given up must not arrive later.
  void abandon();
  // The same as `abandon`, at once. Only where all calls are made on the loop's thread.
  void reset();

  // From any thread, not with TLS, without waiting: the bytes taken, or -1 and errno.
  ssize_t write_now(std::string_view bytes) const noexcept;

 private:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Address = boost::asio::generic::stream_protocol::endpoint;

  void find_host();
  void connect_to_next(std::string last_failure);
  Result<void> make_socket(const Address& address);
  void shake_hands();
  void end_open(Result<void> result);
  void drop_unsent_at_the_end() const;

  boost::asio::io_context& context_;
  const Endpoint endpoint_;
  boost::asio::ip::tcp::resolver resolver_;
  std::vector<Address> addresses_;
  std::size_t next_address_ = 0;
  Socket socket_;
  int descriptor_ = -1;
  std::optional<boost::asio::ssl::context> tls_;
  std::optional<boost::asio::ssl::stream<Socket&>> encrypted_;
  Opened opened_;
  bool is_closed_ = false;
};

}  // namespace holdfast::net::resp
