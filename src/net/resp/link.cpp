// SPDX-License-Identifier: Apache-2.0
#include "net/resp/link.hpp"

#include "net/resp/tls.hpp"

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

namespace holdfast::net::resp {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

// So that a peer that vanished without a word is noticed on an idle connection too.
void keep_alive(int fd) {
  const auto set = [fd](int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace

Link::Link(asio::io_context& context, Endpoint endpoint)
    : context_(context), endpoint_(std::move(endpoint)), resolver_(context), socket_(context) {}

void Link::open(Opened opened) {
  opened_ = std::move(opened);
  asio::post(context_, [self = shared_from_this()] {
    if (self->opened_) self->find_host();
  });
}

void Link::find_host() {
  if (!endpoint_.unix_path.empty()) {
    if (endpoint_.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
      return end_open(fail(Errc::unavailable, "the socket's path is too long"));
    }
    addresses_.emplace_back(asio::local::stream_protocol::endpoint(endpoint_.unix_path));
    return connect_to_next({});
  }
  error_code is_a_name;
  const auto address = asio::ip::make_address(endpoint_.host, is_a_name);
  if (!is_a_name) {
    addresses_.emplace_back(tcp::endpoint(address, endpoint_.port));
    return connect_to_next({});
  }
  resolver_.async_resolve(
      endpoint_.host, std::to_string(endpoint_.port), tcp::resolver::numeric_service,
      [self = shared_from_this()](error_code failed, const tcp::resolver::results_type& found) {
        // A name server may answer long after we stopped waiting.
        if (!self->opened_) return;
        if (failed) {
          return self->end_open(
              fail(Errc::unavailable, "cannot find the host: " + failed.message()));
        }
        for (const auto& entry : found) self->addresses_.emplace_back(entry.endpoint());
        self->connect_to_next("the host has no address");
      });
}

void Link::connect_to_next(std::string last_failure) {
  if (next_address_ == addresses_.size()) {
    return end_open(fail(Errc::unavailable, std::move(last_failure)));
  }
  const Address address = addresses_[next_address_++];
  if (auto made = make_socket(address); !made) {
    return connect_to_next(std::move(made.error().message));
  }
  socket_.async_connect(address, [self = shared_from_this()](error_code failed) {
    if (!self->opened_) return;
    if (failed) return self->connect_to_next("cannot connect: " + failed.message());
    if (self->endpoint_.unix_path.empty()) keep_alive(self->descriptor_);
    if (self->endpoint_.tls) return self->shake_hands();
    self->end_open({});
  });
}

Result<void> Link::make_socket(const Address& address) {
  error_code failed;
  std::ignore = socket_.close(failed);
  const int family = address.protocol().family();
  // Asio's own open() would leave the descriptor to the programs that this process starts.
  descriptor_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0) {
    return fail(Errc::unavailable, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  }
  if (socket_.assign(address.protocol(), descriptor_, failed)) {
    ::close(std::exchange(descriptor_, -1));
    return fail(Errc::unavailable, "cannot watch a socket: " + failed.message());
  }
  return {};
}

void Link::shake_hands() {
  auto context = make_tls_context(*endpoint_.tls);
  if (!context) return end_open(std::unexpected(std::move(context.error())));
  tls_.emplace(std::move(*context));
  encrypted_.emplace(socket_, *tls_);
  const auto& given = endpoint_.tls->server_name;
  const auto& host = endpoint_.unix_path.empty() ? endpoint_.host : given;
  if (auto set = expect_peer(encrypted_->native_handle(), given.empty() ? host : given); !set) {
    return end_open(std::move(set));
  }
  encrypted_->async_handshake(
      asio::ssl::stream_base::client, [self = shared_from_this()](error_code failed) {
        if (!self->opened_) return;
        if (!failed) return self->end_open({});
        self->end_open(
            fail(Errc::unavailable, explain_handshake(self->encrypted_->native_handle(), failed)));
      });
}

void Link::end_open(Result<void> result) {
  if (auto opened = std::exchange(opened_, nullptr)) opened(std::move(result));
}

void Link::read(std::span<char> into, Moved moved) {
  const auto buffer = asio::buffer(into.data(), into.size());
  auto done = [self = shared_from_this(), moved = std::move(moved)](
                  error_code failed, std::size_t bytes) mutable { moved(failed, bytes); };
  if (encrypted_)
    encrypted_->async_read_some(buffer, std::move(done));
  else
    socket_.async_read_some(buffer, std::move(done));
}

void Link::write(std::string_view from, Moved moved) {
  const auto buffer = asio::buffer(from.data(), from.size());
  auto done = [self = shared_from_this(), moved = std::move(moved)](
                  error_code failed, std::size_t bytes) mutable { moved(failed, bytes); };
  if (encrypted_)
    encrypted_->async_write_some(buffer, std::move(done));
  else
    socket_.async_write_some(buffer, std::move(done));
}

void Link::when_writable(Moved moved) {
  socket_.async_wait(Socket::wait_write, [self = shared_from_this(), moved = std::move(moved)](
                                             error_code failed) mutable { moved(failed, 0); });
}

void Link::close() {
  if (std::exchange(is_closed_, true)) return;
  resolver_.cancel();
  error_code ignored;
  // Only shut down: another thread may be about to write to the descriptor, which must not
  // become somebody else's meanwhile. The last holder of this object closes it.
  std::ignore = socket_.shutdown(Socket::shutdown_both, ignored);
  std::ignore = socket_.cancel(ignored);
  if (!opened_) return;
  asio::post(context_,
             [self = shared_from_this()] { self->end_open(fail(Errc::unavailable, "closed")); });
}

void Link::abandon() {
  if (!is_closed_) drop_unsent_at_the_end();
  close();
}

// When the last holder closes the descriptor, the kernel forgets what it has not sent.
void Link::drop_unsent_at_the_end() const {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  if (descriptor_ >= 0) {
    setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
}

void Link::reset() {
  if (std::exchange(is_closed_, true)) return;
  resolver_.cancel();
  // Without a shutdown before it, which would end the connection in good order.
  drop_unsent_at_the_end();
  error_code ignored;
  std::ignore = socket_.close(ignored);
  descriptor_ = -1;
  if (!opened_) return;
  asio::post(context_,
             [self = shared_from_this()] { self->end_open(fail(Errc::unavailable, "closed")); });
}

ssize_t Link::write_now(std::string_view bytes) const noexcept {
  return ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace holdfast::net::resp
