// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/frame_connection.hpp"

#include "runtime/spawn.hpp"
#include "server/forrst/caller.hpp"
#include "server/options.hpp"
#include "server/services.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include <utility>

namespace holdfast::server {

namespace asio = boost::asio;

namespace {

constexpr std::size_t length_bytes = 4;
// What a client may send on while it is being answered; one that sends more is not looked after.
constexpr std::size_t max_ahead_bytes = std::size_t{64} * 1024;

std::size_t length_of(std::string_view frame) {
  std::size_t length = 0;
  for (const char each : frame.substr(0, length_bytes)) {
    length = length << 8U | static_cast<unsigned char>(each);
  }
  return length;
}

}  // namespace

std::string framed(std::string_view body) {
  std::string frame;
  frame.reserve(length_bytes + body.size());
  for (unsigned shift = 32; shift > 0; shift -= 8) {
    frame.push_back(static_cast<char>(body.size() >> (shift - 8) & 0xffU));
  }
  return frame.append(body);
}

FrameConnection::FrameConnection(Socket socket, Place place)
    : socket_(std::move(socket)), place_(std::move(place)), timer_(socket_.get_executor()) {
  place_.clients->all.insert(this);
  ++place_.clients->count;
}

FrameConnection::~FrameConnection() {
  place_.clients->all.erase(this);
  --place_.clients->count;
  place_.left();
}

void FrameConnection::expect_within(std::chrono::microseconds time) {
  timer_.expires_after(time);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code stopped) {
    const auto self = weak.lock();
    // It may have been set anew after it rang.
    const bool is_over = self && self->timer_.expiry() <= asio::steady_timer::clock_type::now();
    if (!stopped && is_over) self->expire();
  });
}

void FrameConnection::expire() {
  const bool in_frame = phase_ == Phase::header || phase_ == Phase::body;
  if (!in_frame) return close();
  refuse(408, forrst::codes::invalid_request, "The request took too long to come");
}

void FrameConnection::close() {
  reached_end_ = true;
  if (stop_) stop_->request_stop();
  timer_.cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void FrameConnection::drain() {
  if (phase_ == Phase::idle) close();
}

void FrameConnection::read_more() {
  if (is_reading_ || reached_end_) return;
  is_reading_ = true;
  socket_.async_read_some(
      asio::buffer(piece_),
      [self = shared_from_this()](boost::system::error_code failed, std::size_t bytes) {
        self->note_read(failed, bytes);
      });
}

void FrameConnection::note_read(boost::system::error_code failed, std::size_t bytes) {
  is_reading_ = false;
  in_.append(piece_.data(), bytes);
  if (failed || bytes == 0) reached_end_ = true;
  const bool is_awaited = phase_ != Phase::answering && phase_ != Phase::writing;
  if (is_awaited) return go_on();
  if (!reached_end_) return watch_for_the_end();
  if (stop_) stop_->request_stop();
}

void FrameConnection::watch_for_the_end() {
  if (in_.size() <= max_ahead_bytes) read_more();
}

// A slow client is measured from its first byte on, however it spreads the others.
void FrameConnection::need_more(Phase phase) {
  if (reached_end_) return close();
  if (phase == Phase::idle && place_.clients->is_draining) return close();
  const auto& limits = place_.services.options().limits;
  if (phase != std::exchange(phase_, phase)) {
    expect_within(phase == Phase::idle     ? limits.idle_timeout
                  : phase == Phase::header ? limits.header_timeout
                                           : limits.body_timeout);
  }
  read_more();
}

void FrameConnection::go_on() {
  if (in_.size() < length_bytes) return need_more(in_.empty() ? Phase::idle : Phase::header);
  const auto length = length_of(in_);
  if (length == 0 || length > forrst::max_request_bytes) {
    return refuse(length == 0 ? 400 : 413, forrst::codes::invalid_request,
                  fmt::format("A frame must have 1 to {} bytes", forrst::max_request_bytes));
  }
  if (in_.size() < length_bytes + length) return need_more(Phase::body);
  auto body = in_.substr(length_bytes, length);
  in_.erase(0, length_bytes + length);
  // A long request was an exception.
  if (in_.empty()) in_ = {};
  handle(std::move(body));
}

forrst::Caller FrameConnection::caller() const {
  const bool is_known = place_.services.tokens() != nullptr;
  return caller_of({is_known ? place_.principal : Principal::everybody(), "unix"}, is_known);
}

void FrameConnection::handle(std::string body) {
  phase_ = Phase::answering;
  timer_.expires_at(asio::steady_timer::time_point::max());
  stop_.emplace();
  if (reached_end_) stop_->request_stop();
  watch_for_the_end();
  auto answering = place_.services.forrst->answer(body, caller(), stop_->get_token());
  // The last of the references must not go on another thread.
  runtime::spawn(
      std::move(answering), [self = shared_from_this(),
                             executor = socket_.get_executor()](forrst::Reply&& reply) mutable {
        asio::post(executor, [self = std::move(self), reply = std::move(reply)]() mutable {
          self->answered(std::move(reply));
        });
      });
}

void FrameConnection::answered(forrst::Reply reply) {
  stop_.reset();
  // Whoever has only ended its own sending can still read; it cannot be told from one that left, so
  // what would be left behind is given back first.
  if (reached_end_ && reply.undelivered) {
    reply.undelivered();
    reply = place_.services.forrst->refuse(
        499, {.code = "CANCELLED",
              .message = "The client ended before the answer; nothing is held for it"});
  }
  send(std::move(reply));
}

void FrameConnection::refuse(int status, std::string_view code, std::string message) {
  is_last_ = true;
  send(place_.services.forrst->refuse(status,
                                      {.code = std::string(code), .message = std::move(message)}));
}

void FrameConnection::send(forrst::Reply reply) {
  phase_ = Phase::writing;
  out_ = framed(reply.body);
  expect_within(place_.services.options().limits.idle_timeout);
  asio::async_write(socket_, asio::buffer(out_),
                    [self = shared_from_this(), reply = std::move(reply)](
                        boost::system::error_code failed, std::size_t) mutable {
                      self->note_written(failed, reply);
                    });
}

void FrameConnection::note_written(boost::system::error_code failed, forrst::Reply& reply) {
  if (failed && reply.undelivered) reply.undelivered();
  out_ = {};
  if (failed || is_last_) return close();
  go_on();
}

}  // namespace holdfast::server
