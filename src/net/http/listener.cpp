// SPDX-License-Identifier: Apache-2.0
#include "net/http/listener.hpp"

#include "net/http/response_writer.hpp"
#include "net/http/socket_file.hpp"
#include "runtime/log.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace holdfast::net::http {

namespace asio = boost::asio;
using Generic = asio::generic::stream_protocol;

namespace {

// While the system has no descriptors left: long enough not to spin, short enough not to matter.
constexpr auto accept_pause = std::chrono::milliseconds(100);

const std::string& full() {
  static const std::string answer = [] {
    Response response{.status = 429,
                      .content_type = "application/problem+json",
                      .body = R"({"type":"about:blank","title":"Too Many Requests","status":429,)"
                              R"("code":"too_many_connections",)"
                              R"("detail":"no more connections are accepted just now"})",
                      .headers = {{"Retry-After", "1"}}};
    std::string text;
    write_head(response, Framing::length, false, text);
    return text + response.body;
  }();
  return answer;
}

std::string text_of(const asio::ip::tcp::endpoint& endpoint) {
  const auto address = endpoint.address();
  return address.is_v6() ? fmt::format("[{}]:{}", address.to_string(), endpoint.port())
                         : fmt::format("{}:{}", address.to_string(), endpoint.port());
}

asio::ip::tcp::endpoint as_tcp(const Generic::endpoint& generic) {
  asio::ip::tcp::endpoint endpoint;
  if (generic.size() > endpoint.capacity()) return endpoint;
  std::memcpy(endpoint.data(), generic.data(), generic.size());
  endpoint.resize(generic.size());
  return endpoint;
}

Peer peer_of(const Generic::endpoint& endpoint) {
  auto address = as_tcp(endpoint).address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return {.address = address.to_string(), .is_loopback = address.is_loopback()};
}

}  // namespace

bool Admission::enter(const Peer& peer) {
  const std::lock_guard lock(mutex_);
  if (total_ >= max_total_) return false;
  if (!peer.is_loopback) {
    auto& here = by_address_[peer.address];
    if (here >= max_per_address_) return false;
    ++here;
  }
  ++total_;
  return true;
}

void Admission::leave(const Peer& peer) {
  const std::lock_guard lock(mutex_);
  --total_;
  if (peer.is_loopback) return;
  const auto found = by_address_.find(peer.address);
  if (found != by_address_.end() && --found->second == 0) by_address_.erase(found);
}

Listener::Listener(std::span<const std::unique_ptr<Worker>> workers, Admission& admission, Tls tls)
    : workers_(workers),
      admission_(admission),
      tls_(std::move(tls)),
      acceptor_(workers.front()->context().get_executor()),
      pause_(workers.front()->context()) {}

Listener::~Listener() { close(); }

void Listener::close() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  if (!socket_file_.empty()) unlink(std::exchange(socket_file_, {}).c_str());
}

Result<void> Listener::open(const Address& address) {
  is_unix_ = !address.socket_file.empty();
  if (is_unix_) {
    remove_stale_socket(address.socket_file);
    const asio::local::stream_protocol::endpoint endpoint(address.socket_file);
    if (auto good = listen(endpoint, "unix:" + address.socket_file); !good) return good;
    socket_file_ = address.socket_file;
    bound_ = "unix:" + address.socket_file;
    return {};
  }
  boost::system::error_code failed;
  asio::ip::tcp::resolver resolver(workers_.front()->context());
  const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                      asio::ip::resolver_base::passive, failed);
  if (failed || found.empty()) {
    return fail(Errc::unavailable,
                fmt::format("listen: cannot find {}: {}", address.host, failed.message()));
  }
  const auto endpoint = found.begin()->endpoint();
  if (auto good = listen(endpoint, text_of(endpoint)); !good) return good;
  bound_ = text_of(as_tcp(acceptor_.local_endpoint(failed)));
  return {};
}

Result<void> Listener::listen(const Generic::endpoint& endpoint, const std::string& text) {
  const auto step = [&](boost::system::error_code failed) -> Result<void> {
    if (!failed) return {};
    return fail(Errc::unavailable,
                fmt::format("listen: cannot listen on {}: {}", text, failed.message()));
  };
  boost::system::error_code failed;
  acceptor_.open(endpoint.protocol(), failed);
  if (auto good = step(failed); !good) return good;
  if (!is_unix_) {
    acceptor_.set_option(asio::socket_base::reuse_address(true), failed);
    if (endpoint.protocol().family() == AF_INET6) {
      acceptor_.set_option(asio::ip::v6_only(true), failed);
    }
  }
  // A socket file is for its user alone.
  const auto old_mask = umask(0177);
  acceptor_.bind(endpoint, failed);
  umask(old_mask);
  if (auto good = step(failed); !good) return good;
  acceptor_.listen(asio::socket_base::max_listen_connections, failed);
  if (auto good = step(failed); !good) return good;
  accept();
  return {};
}

Worker& Listener::least_busy() {
  return **std::ranges::min_element(
      workers_, {}, [](const std::unique_ptr<Worker>& each) { return each->connections(); });
}

void Listener::accept() {
  auto& worker = least_busy();
  acceptor_.async_accept(worker.context(),
                         [this, &worker](boost::system::error_code failed, Channel::Socket socket) {
                           if (failed == asio::error::operation_aborted) return;
                           if (failed) return pause();
                           take(worker, std::move(socket));
                           accept();
                         });
}

void Listener::pause() {
  if (!std::exchange(has_complained_, true)) {
    runtime::log_warning("no descriptors are left for new connections: they wait");
  }
  pause_.expires_after(accept_pause);
  pause_.async_wait([this](boost::system::error_code stopped) {
    if (!stopped) accept();
  });
}

void Listener::take(Worker& worker, Channel::Socket socket) {
  has_complained_ = false;
  boost::system::error_code failed;
  const auto remote = socket.remote_endpoint(failed);
  if (failed && !is_unix_) return;
  Peer peer = is_unix_ ? Peer{.address = "unix", .is_loopback = true} : peer_of(remote);
  if (!admission_.enter(peer)) {
    [[maybe_unused]] const auto told =
        send(socket.native_handle(), full().data(), full().size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return;
  }
  if (!is_unix_) socket.set_option(asio::ip::tcp::no_delay(true), failed);
  worker.add(std::move(socket), tls_ ? tls_() : nullptr, std::move(peer));
}

}  // namespace holdfast::net::http
