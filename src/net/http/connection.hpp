// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/http/channel.hpp"
#include "net/http/request_reader.hpp"
#include "net/http/service.hpp"
#include "runtime/clock.hpp"
#include "runtime/spawn.hpp"

#include <boost/intrusive/list_hook.hpp>

#include <atomic>
#include <coroutine>

namespace holdfast::net::http {

using runtime::LocalTime;

struct ConnectionLimits {
  ReaderLimits reader;
  std::size_t max_pipelined = 32;
  std::size_t max_output_bytes = 1 << 20U;
  std::chrono::microseconds header_timeout = std::chrono::seconds(5);
  std::chrono::microseconds body_timeout = std::chrono::seconds(10);
  std::chrono::microseconds idle_timeout = std::chrono::seconds(60);
};

class Stream;
class Worker;

// One client. A single coroutine reads, asks the service and writes, in that order; while the
// service thinks, a read stays outstanding so that a client that leaves is noticed at once. Lives
// on the thread of its worker.
class Connection : public std::enable_shared_from_this<Connection>,
                   public boost::intrusive::list_base_hook<> {
 public:
  Connection(Worker& worker, Channel::Socket socket, Channel::TlsContext tls, Peer peer);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  void start();
  // When the client has been too slow; LocalTime::max() while it is our turn.
  LocalTime deadline() const { return deadline_; }
  void expire();
  // Answers what is under way and ends.
  void drain();
  void close();

  const Peer& peer() const { return peer_; }

 private:
  struct ShakeHands;
  struct ReadMore;
  struct WriteAll;
  struct Handled;
  struct StreamTurn;

  runtime::Detached serve(std::shared_ptr<Connection> self);
  Task<bool> shake_hands();
  Task<bool> send_stream(Response response, bool can_chunk);
  Task<bool> send_rest(Response response, bool keep_alive);
  Task<bool> linger();
  void start_reading();
  void watch_for_the_end();
  void note_read(boost::system::error_code failed, std::size_t bytes);
  void expect_within(std::chrono::microseconds time);
  void expect_more(RequestReader::Progress progress);
  void append(Response& response, bool keep_alive, bool with_body);
  std::stop_token stop_token();
  std::stop_token left_token();
  void tell_that_it_left();

  Worker& worker_;
  Channel channel_;
  Peer peer_;
  RequestReader reader_;
  std::string out_;  // what was answered and not yet written

  LocalTime deadline_ = LocalTime::max();
  bool is_reading_ = false;   // a read is outstanding
  bool reached_end_ = false;  // nothing more will come
  bool timed_out_ = false;
  bool is_draining_ = false;
  enum class Phase : std::uint8_t { ours, idle, header, body };
  Phase phase_ = Phase::ours;  // what the client is given time for
  std::coroutine_handle<> waits_for_read_;
  // Of the request that is being handled.
  std::optional<std::stop_source> stop_;
  std::optional<std::stop_source> left_;
  std::shared_ptr<Stream> stream_;  // of an answer without an end
};

}  // namespace holdfast::net::http
