// SPDX-License-Identifier: Apache-2.0
//
// Forrst on a unix socket, for programs of this machine that want no HTTP.
#pragma once

#include <holdfast/error.hpp>

#include "net/http/listener.hpp"
#include "server/forrst/frame_connection.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>

#include <string>

namespace holdfast::server {

// Everything but the constructor, `open` and `connections` happens on the thread of the loop, or
// after it has stopped.
class FrameSocket {
 public:
  FrameSocket(boost::asio::io_context& context, Services& services,
              net::http::Admission& admission);
  FrameSocket(const FrameSocket&) = delete;
  FrameSocket& operator=(const FrameSocket&) = delete;
  ~FrameSocket();

  // Binds and begins to accept; the file is for its user and its group. Errors: unavailable with
  // the path and the reason.
  Result<void> open(const std::string& path);
  // No more connections from here on.
  void close();
  // Idle connections end now, waiting requests are asked to stop, the others after their answer.
  void drain();
  void close_all();
  std::size_t connections() const { return clients_->count; }

 private:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::local::stream_protocol,
                                                      boost::asio::io_context::executor_type>;
  void accept();
  void pause();
  void take(FrameConnection::Socket socket);

  Services& services_;
  net::http::Admission& admission_;
  const std::shared_ptr<const Principal> principal_;
  const std::shared_ptr<FrameClients> clients_ = std::make_shared<FrameClients>();
  Acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::string path_;
};

}  // namespace holdfast::server
