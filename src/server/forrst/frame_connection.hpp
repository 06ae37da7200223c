// SPDX-License-Identifier: Apache-2.0
//
// One client on the socket of frames: four bytes of length, the highest first, and so much JSON.
#pragma once

#include <holdfast/forrst/service.hpp>

#include "server/auth/principal.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

namespace holdfast::server {

class FrameConnection;
class Services;

// The frame of an answer.
std::string framed(std::string_view body);

// All that are connected. On the thread of their loop, but for the count.
struct FrameClients {
  std::set<FrameConnection*> all;
  std::atomic<std::size_t> count{0};
  bool is_draining = false;
};

// Requests are answered one after the other. While one is, a read stays outstanding, so that a
// client that leaves is noticed at once. Lives as long as something is under way.
class FrameConnection : public std::enable_shared_from_this<FrameConnection> {
 public:
  using Socket = boost::asio::basic_stream_socket<boost::asio::local::stream_protocol,
                                                  boost::asio::io_context::executor_type>;

  struct Place {
    Services& services;
    std::shared_ptr<FrameClients> clients;
    std::shared_ptr<const Principal> principal;  // where others need a token
    std::function<void()> left;                  // called with the end of the connection
  };

  FrameConnection(Socket socket, Place place);
  FrameConnection(const FrameConnection&) = delete;
  FrameConnection& operator=(const FrameConnection&) = delete;
  ~FrameConnection();

  void start() { go_on(); }
  // Answers what is under way and ends.
  void drain();
  void close();

 private:
  enum class Phase : std::uint8_t { idle, header, body, answering, writing };

  void go_on();
  void need_more(Phase phase);
  void read_more();
  void note_read(boost::system::error_code failed, std::size_t bytes);
  void watch_for_the_end();
  void handle(std::string body);
  void answered(forrst::Reply reply);
  void refuse(int status, std::string_view code, std::string message);
  void send(forrst::Reply reply);
  void note_written(boost::system::error_code failed, forrst::Reply& reply);
  void expect_within(std::chrono::microseconds time);
  void expire();
  forrst::Caller caller() const;

  Socket socket_;
  const Place place_;
  boost::asio::steady_timer timer_;
  Phase phase_ = Phase::answering;
  std::array<char, 16384> piece_;
  std::string in_;
  std::string out_;
  bool is_reading_ = false;               // a read is outstanding
  bool reached_end_ = false;              // nothing more will come
  bool is_last_ = false;                  // what is being sent
  std::optional<std::stop_source> stop_;  // of the request that is being answered
};

}  // namespace holdfast::server
