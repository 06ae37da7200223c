// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulation/http/simulated_link.hpp"
#include "simulation/process.hpp"

#include <memory>
#include <string>

namespace holdfast::simulation {

class HttpServers;

// One connection with both of its ends: that of the client, which is the link below its HTTP code,
// and that of the server, which reads one request after the other.
class HttpLine final : public simulated::Link, public std::enable_shared_from_this<HttpLine> {
 public:
  HttpLine(HttpServers& servers, history::ProcessId number, Process& process)
      : servers_(servers), number_(number), process_(process) {}

  // The client's end.
  void open(Opened opened) override;
  void read(std::span<char> into, Moved moved) override;
  void write(std::string_view from, Moved moved) override;
  bool is_closed() const override { return is_closed_; }
  void close() override;

  // The server's end.
  history::ProcessId number() const { return number_; }
  Time last_arrival() const { return std::max(last_up_, last_down_); }
  bool is_broken() const { return is_broken_ || is_closed_; }
  std::uint32_t run = 0;     // of the server at the other end
  std::uint32_t stream = 0;  // that messages are sent by; 0: none
  std::string request;       // read, and not answered
  Time sent = 0;             // the request
  bool is_busy = false;      // with the request
  void accept();
  void refuse();
  // Bytes for the client, which arrive in order.
  void send(std::string bytes, Time held_up_for = 0);
  // The connection ends; the client learns of it a moment later.
  void reset();
  // A request that is there as a whole, and is no more.
  std::string take_request();

 private:
  Time arrival(Time& last, std::size_t bytes, Time cut_until);
  void arrived(const std::string& bytes, Time sent_at);
  void received(std::string_view bytes);
  void ended();
  void tell(Moved moved, boost::system::error_code error, std::size_t bytes);

  HttpServers& servers_;
  const history::ProcessId number_;
  Process& process_;
  Opened opened_;
  Moved reading_;
  std::span<char> into_;
  std::string unread_;
  Time last_up_ = 0;
  Time last_down_ = 0;
  bool is_closed_ = false;  // by the client
  bool is_broken_ = false;  // by anybody else
  bool is_over_ = false;    // and the client knows it
};

}  // namespace holdfast::simulation
