// SPDX-License-Identifier: Apache-2.0
#include "net/http/client_connection.hpp"

#include "runtime/loop_runtime.hpp"

#include <utility>

namespace holdfast::net::http {

namespace {

resp::Endpoint endpoint_of(const Origin& origin) {
  resp::Endpoint endpoint;
  endpoint.host = origin.host;
  endpoint.port = origin.port;
  endpoint.unix_path = origin.unix_path;
  endpoint.tls = origin.tls;
  // A socket file has no name of its own to verify.
  if (endpoint.tls && endpoint.tls->server_name.empty()) endpoint.tls->server_name = origin.host;
  return endpoint;
}

}  // namespace

ClientConnection::ClientConnection(std::shared_ptr<runtime::Runtime> runtime, const Origin& origin)
    : runtime_(std::move(runtime)),
      connect_timeout_(origin.connect_timeout),
      link_(std::make_shared<resp::Link>(dynamic_cast<runtime::LoopRuntime&>(*runtime_).context(),
                                         endpoint_of(origin))) {}

void ClientConnection::open(Opened opened) {
  opened_ = std::move(opened);
  connect_timer_ =
      runtime_->schedule(runtime_->now() + connect_timeout_, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->give_up_connecting();
      });
  link_->open([self = shared_from_this()](Result<void> result) {
    self->runtime_->cancel(std::exchange(self->connect_timer_, runtime::TimerId::none));
    self->is_open_ = result.has_value() && !self->link_->is_closed();
    if (self->is_open_) self->read_on();
    if (auto told = std::exchange(self->opened_, nullptr)) told(std::move(result));
  });
}

void ClientConnection::give_up_connecting() {
  link_->close();
  if (auto told = std::exchange(opened_, nullptr)) {
    told(fail(Errc::unavailable, "cannot connect: no answer in time"));
  }
}

void ClientConnection::send(std::string bytes, ResponseReader::Options options, Ended ended) {
  ended_ = std::move(ended);
  reader_.emplace(std::move(options));
  out_ = std::move(bytes);
  written_ = 0;
  silent_ticks_ = 0;
  write_on();
}

void ClientConnection::write_on() {
  const auto rest = std::string_view(out_).substr(written_);
  link_->write(rest,
               [self = shared_from_this()](boost::system::error_code failed, std::size_t bytes) {
                 if (!self->ended_) return;
                 self->written_ += bytes;
                 if (!failed && self->written_ < self->out_.size()) return self->write_on();
                 // The server may have said why before it closed: reading tells.
                 if (failed && self->written_ == 0) {
                   self->finish({.failure = "cannot send: " + failed.message(),
                                 .was_sent = false,
                                 .was_silent = true,
                                 .is_broken = true});
                 }
               });
}

void ClientConnection::read_on() {
  link_->read(in_,
              [self = shared_from_this()](boost::system::error_code failed, std::size_t bytes) {
                self->received(failed, bytes);
              });
}

void ClientConnection::received(boost::system::error_code failed, std::size_t bytes) {
  if (!is_open_) return;
  if (!ended_) {
    // Nothing was asked: the server closes, or says what we cannot place.
    is_open_ = false;
    link_->close();
    if (auto told = std::exchange(dropped_, nullptr)) told();
    return;
  }
  if (!failed) {
    const auto self = shared_from_this();
    silent_ticks_ = 0;
    judge(reader_->feed({in_.data(), bytes}));
    if (is_open_) read_on();
    return;
  }
  const bool was_silent = reader_->is_empty();
  const bool is_whole = !was_silent && failed == boost::asio::error::eof &&
                        reader_->end() == ResponseReader::Progress::complete;
  is_open_ = false;
  link_->close();
  if (is_whole) return finish({.response = reader_->take()});
  finish({.failure = "the connection broke: " + failed.message(),
          .was_silent = was_silent,
          .is_broken = true});
}

void ClientConnection::judge(ResponseReader::Progress progress) {
  // A sink may have closed us.
  if (!ended_ || progress == ResponseReader::Progress::needs_more) return;
  if (progress == ResponseReader::Progress::malformed) {
    return finish({.failure = "the answer is no HTTP that we accept: " + reader_->complaint()});
  }
  was_used_ = true;
  const bool is_all_written = written_ == out_.size();
  if (!reader_->keeps_alive() || !is_all_written) {
    is_open_ = false;
    link_->close();
  }
  finish({.response = reader_->take()});
}

void ClientConnection::finish(End end) {
  if (!end.response) {
    is_open_ = false;
    link_->close();
  }
  if (auto ended = std::exchange(ended_, nullptr)) ended(std::move(end));
}

void ClientConnection::close(std::string why) {
  const auto self = shared_from_this();
  is_open_ = false;
  dropped_ = nullptr;
  runtime_->cancel(std::exchange(connect_timer_, runtime::TimerId::none));
  link_->close();
  if (auto told = std::exchange(opened_, nullptr)) told(fail(Errc::unavailable, why));
  if (ended_) finish({.failure = std::move(why), .was_silent = reader_->is_empty()});
}

}  // namespace holdfast::net::http
