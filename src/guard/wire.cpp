// SPDX-License-Identifier: Apache-2.0
#include "guard/wire.hpp"

#include "guard/pool.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace holdfast::guard {

namespace {

constexpr std::size_t first_buffer_bytes = 8 * 1024;
constexpr std::size_t last_buffer_bytes = 64 * 1024;
static_assert(last_buffer_bytes > max_answer_head_bytes, "a head has to fit");

net::resp::Endpoint endpoint_of(const net::http::Origin& origin) {
  net::resp::Endpoint endpoint;
  endpoint.host = origin.host;
  endpoint.port = origin.port;
  endpoint.unix_path = origin.unix_path;
  endpoint.tls = origin.tls;
  return endpoint;
}

}  // namespace

Wire::Wire(Pool& pool, boost::asio::io_context& context, const net::http::Origin& origin)
    : pool_(&pool),
      link_(std::make_shared<net::resp::Link>(context, endpoint_of(origin))),
      buffer_(first_buffer_bytes) {
  pool_->joined(*this);
}

Wire::~Wire() {
  if (pool_ != nullptr) pool_->left(*this);
}

void Wire::Open::await_suspend(std::coroutine_handle<> handle) {
  wire->link_->open([this, handle](Result<void> opened) {
    good = opened.has_value() && !wire->timed_out_;
    if (!good) {
      wire->failure_ = wire->timed_out_ ? "cannot connect: no answer in time"
                                        : std::move(opened.error().message);
    }
    handle.resume();
  });
}

void Wire::WriteSome::await_suspend(std::coroutine_handle<> handle) {
  wire.link_->write(bytes, [this, handle](boost::system::error_code failed, std::size_t moved) {
    taken = moved;
    if (failed) wire.failure_ = "cannot send: " + failed.message();
    handle.resume();
  });
}

std::optional<std::size_t> Wire::write_now(std::string_view bytes) {
  if (has_ended_ || link_->is_closed()) return std::nullopt;
  if (link_->is_encrypted()) return 0;
  const auto taken = link_->write_now(bytes);
  if (taken >= 0) return static_cast<std::size_t>(taken);
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
  failure_ = std::string("cannot send: ") + std::strerror(errno);
  return std::nullopt;
}

std::span<char> Wire::space() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == buffer_.size() && begin_ > 0) {
    std::move(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.end(),
              buffer_.begin());
    end_ -= std::exchange(begin_, 0);
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  return {buffer_.data() + end_, buffer_.size() - end_};
}

void Wire::start_reading() {
  if (is_reading_ || has_ended_) return;
  is_reading_ = true;
  link_->read(space(), [self = shared_from_this()](auto failed, std::size_t bytes) {
    self->note_read(failed, bytes);
  });
}

void Wire::note_read(boost::system::error_code failed, std::size_t bytes) {
  is_reading_ = false;
  end_ += bytes;
  if (failed) {
    has_ended_ = true;
    ended_well_ = failed == boost::asio::error::eof && !timed_out_;
    failure_ = "the connection broke: " + failed.message();
  }
  // Who fills a small buffer has more to say.
  const bool is_full = end_ == buffer_.size() && buffer_.size() < last_buffer_bytes;
  if (is_full && waits_for_read_) buffer_.resize(2 * buffer_.size());
  if (waits_for_read_) return std::exchange(waits_for_read_, {}).resume();
  // Nothing was asked: the upstream closes, or says what cannot be placed.
  if (is_resting && pool_ != nullptr) pool_->drop(*this);
}

void Wire::rest() {
  is_resting = true;
  start_reading();
}

void Wire::expire() {
  if (is_resting) return pool_->drop(*this);
  timed_out_ = true;
  close();
}

void Wire::close() {
  deadline = LocalTime::max();
  link_->reset();
}

}  // namespace holdfast::guard
