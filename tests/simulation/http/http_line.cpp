// SPDX-License-Identifier: Apache-2.0
#include "simulation/http/http_line.hpp"

#include "simulation/http/http_servers.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

const boost::system::error_code nothing_wrong;

}  // namespace

Time HttpLine::arrival(Time& last, std::size_t bytes, Time cut_until) {
  const Time latency = servers_.plan().latency;
  const Time at = servers_.now() + latency + servers_.dice().between(0, latency / 2);
  const Time passing = servers_.time_on_the_line(number_, bytes);
  return last = std::max({at + passing, cut_until + latency, last + 1});
}

void HttpLine::open(Opened opened) {
  opened_ = std::move(opened);
  const Time at = arrival(last_up_, 0, servers_.client(number_).up_cut_until);
  servers_.outside.add(outside_time(at),
                       [self = shared_from_this()] { self->servers_.knock(self); });
}

void HttpLine::accept() {
  const Time at = arrival(last_down_, 0, servers_.client(number_).down_cut_until);
  process_.arrive(at, [self = shared_from_this()] {
    auto opened = std::exchange(self->opened_, nullptr);
    if (!opened) return;
    if (self->is_broken()) return opened(fail(Errc::unavailable, "the connection broke"));
    opened({});
  });
}

void HttpLine::refuse() {
  is_broken_ = true;
  accept();
}

void HttpLine::tell(Moved moved, boost::system::error_code error, std::size_t bytes) {
  process_.post([self = shared_from_this(), moved = std::move(moved), error, bytes]() mutable {
    moved(error, bytes);
  });
}

void HttpLine::write(std::string_view from, Moved moved) {
  if (is_closed_ || is_over_) return tell(std::move(moved), boost::asio::error::broken_pipe, 0);
  const Time at = arrival(last_up_, from.size(), servers_.client(number_).up_cut_until);
  servers_.outside.add(outside_time(at), [self = shared_from_this(), bytes = std::string(from),
                                          sent = servers_.now()] { self->arrived(bytes, sent); });
  tell(std::move(moved), nothing_wrong, from.size());
}

void HttpLine::arrived(const std::string& bytes, Time sent_at) {
  if (is_broken_) return;
  request += bytes;
  sent = sent_at;
  servers_.has_read(shared_from_this());
}

// The head, and as much of a body as it says.
std::string HttpLine::take_request() {
  const auto head = request.find("\r\n\r\n");
  if (head == std::string::npos) return {};
  static constexpr std::string_view length = "Content-Length: ";
  std::size_t body = 0;
  if (const auto at = request.find(length); at < head) {
    body = std::stoul(request.substr(at + length.size()));
  }
  const std::size_t whole = head + 4 + body;
  if (request.size() < whole) return {};
  auto taken = request.substr(0, whole);
  request.erase(0, whole);
  return taken;
}

void HttpLine::read(std::span<char> into, Moved moved) {
  if (is_closed_) return tell(std::move(moved), boost::asio::error::operation_aborted, 0);
  into_ = into;
  reading_ = std::move(moved);
  if (unread_.empty() && !is_over_) return;
  process_.post([self = shared_from_this()] { self->received({}); });
}

void HttpLine::received(std::string_view bytes) {
  unread_ += bytes;
  if (!reading_) return;
  if (is_closed_ || (unread_.empty() && is_over_)) {
    const auto error =
        is_closed_ ? boost::asio::error::make_error_code(boost::asio::error::operation_aborted)
                   : boost::asio::error::make_error_code(boost::asio::error::connection_reset);
    return std::exchange(reading_, nullptr)(error, 0);
  }
  if (unread_.empty()) return;
  const std::size_t count = std::min(into_.size(), unread_.size());
  std::copy_n(unread_.begin(), count, into_.begin());
  unread_.erase(0, count);
  std::exchange(reading_, nullptr)(nothing_wrong, count);
}

void HttpLine::send(std::string bytes, Time held_up_for) {
  if (is_broken()) return;
  Time at = arrival(last_down_, bytes.size(), servers_.client(number_).down_cut_until);
  at = last_down_ = std::max(at, servers_.now() + held_up_for);
  process_.arrive(at, [self = shared_from_this(), bytes = std::move(bytes)] {
    if (!self->is_closed_ && !self->is_over_) self->received(bytes);
  });
}

void HttpLine::reset() {
  if (std::exchange(is_broken_, true)) return;
  process_.arrive(servers_.now() + servers_.plan().latency,
                  [self = shared_from_this()] { self->ended(); });
}

void HttpLine::ended() {
  if (std::exchange(is_over_, true)) return;
  if (auto opened = std::exchange(opened_, nullptr)) {
    return opened(fail(Errc::unavailable, "the connection broke"));
  }
  received({});
}

void HttpLine::close() {
  if (std::exchange(is_closed_, true)) return;
  if (reading_) process_.post([self = shared_from_this()] { self->received({}); });
  if (!opened_) return;
  process_.post([self = shared_from_this()] {
    auto opened = std::exchange(self->opened_, nullptr);
    if (opened) opened(fail(Errc::unavailable, "closed"));
  });
}

}  // namespace holdfast::simulation
