// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/http/client_response_reader.hpp"
#include "net/resp/link.hpp"
#include "runtime/runtime.hpp"

#include <array>

namespace holdfast::net::http {

// A client's end of one connection: one request at a time. A read is always outstanding, so that a
// server that closes an idle connection is noticed before the next request. On the loop's thread
// only, and always held by a shared pointer.
class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  using Opened = std::move_only_function<void(Result<void>)>;
  // What became of one request.
  struct End {
    std::optional<ClientResponse> response;
    std::string failure;      // why there is none
    bool was_sent = true;     // some of the request may have left
    bool was_silent = false;  // not one byte of an answer came
    bool is_broken = false;   // by the network or the other side, not by a close of ours
  };
  using Ended = std::move_only_function<void(End)>;
  using Dropped = std::move_only_function<void()>;

  ClientConnection(std::shared_ptr<runtime::Runtime> runtime, const Origin& origin);

  // Answers once, within the origin's connect_timeout. The error has the reason alone.
  void open(Opened opened);
  // Called once when the server closes while no request is under way.
  void on_dropped(Dropped dropped) { dropped_ = std::move(dropped); }
  void send(std::string bytes, ResponseReader::Options options, Ended ended);
  // Ends everything under way.
  void close(std::string why = "closed");

  // Another tick of its owner's clock has passed: how many since the request was sent, or since a
  // byte of its answer came.
  unsigned count_silent_tick() { return ++silent_ticks_; }

  bool is_usable() const { return is_open_ && !ended_; }
  bool was_used() const { return was_used_; }
  // Not one byte of the answer to the request under way has come.
  bool is_unanswered() const { return ended_ && reader_->is_empty(); }

 private:
  void read_on();
  void received(boost::system::error_code failed, std::size_t bytes);
  void write_on();
  void judge(ResponseReader::Progress progress);
  void finish(End end);
  void give_up_connecting();

  const std::shared_ptr<runtime::Runtime> runtime_;
  const std::chrono::microseconds connect_timeout_;
  const std::shared_ptr<resp::Link> link_;
  Opened opened_;
  Dropped dropped_;
  Ended ended_;  // of the request under way
  runtime::TimerId connect_timer_{};
  std::optional<ResponseReader> reader_;
  std::string out_;
  std::size_t written_ = 0;
  std::array<char, 16 * 1024> in_{};
  bool is_open_ = false;
  bool was_used_ = false;
  unsigned silent_ticks_ = 0;
};

}  // namespace holdfast::net::http
