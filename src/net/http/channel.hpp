// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::net::http {

// The accepted end of a connection: TCP or a socket file, plain or with TLS. On its io_context's
// thread only. Every call is answered exactly once, after `close` with an error.
class Channel {
 public:
  using Executor = boost::asio::io_context::executor_type;
  using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Executor>;
  using Moved = std::move_only_function<void(boost::system::error_code, std::size_t bytes)>;
  using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

  // A null context: no TLS.
  Channel(Socket socket, TlsContext tls);

  bool is_encrypted() const { return encrypted_.has_value(); }
  void shake_hands(Moved done);
  void read_some(std::span<char> into, Moved done);
  void write(std::string_view from, Moved done);
  // What the system takes without waiting, which is nearly always everything. 0 with TLS.
  std::size_t write_now(std::string_view from) noexcept;
  // The common name of the client's certificate, verified in the handshake; empty without one.
  std::string certificate() const;
  // Ends the read under way with an error.
  void cancel();
  // Nothing more will be written; the client may still be sending.
  void end_writing();
  // What the other side has not taken until now is not kept for it after `close`: the system would
  // try for minutes.
  void drop_unsent();
  // Says goodbye where that is possible without waiting, and ends everything under way.
  void close();
  bool is_open() const { return socket_.is_open(); }
  Executor executor() { return socket_.get_executor(); }

 private:
  void say_goodbye();

  Socket socket_;
  TlsContext tls_;
  std::optional<boost::asio::ssl::stream<Socket&>> encrypted_;
};

}  // namespace holdfast::net::http
