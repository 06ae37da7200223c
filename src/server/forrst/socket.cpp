// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/socket.hpp"

#include "net/http/socket_file.hpp"
#include "server/forrst/caller.hpp"
#include "server/options.hpp"
#include "server/services.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>
#include <vector>

namespace holdfast::server {

namespace asio = boost::asio;

namespace {

// While the system has no descriptors left: long enough not to spin, short enough not to matter.
constexpr auto accept_pause = std::chrono::milliseconds(100);
// For its user and its group.
constexpr mode_t file_mask = 0117;

const net::http::Peer& neighbour() {
  static const net::http::Peer peer{.address = "unix", .is_loopback = true};
  return peer;
}

std::shared_ptr<const Principal> principal_of(const Verbs& verbs) {
  Principal principal{.name = std::string(socket_principal_name), .verbs = verbs};
  return std::make_shared<const Principal>(std::move(principal));
}

}  // namespace

FrameSocket::FrameSocket(asio::io_context& context, Services& services,
                         net::http::Admission& admission)
    : services_(services),
      admission_(admission),
      principal_(principal_of(services.options().forrst.socket_verbs)),
      acceptor_(context.get_executor()),
      pause_(context) {}

FrameSocket::~FrameSocket() { close(); }

void FrameSocket::close() {
  // First its file: whoever comes next may bind as soon as nobody listens.
  if (!path_.empty()) unlink(std::exchange(path_, {}).c_str());
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

Result<void> FrameSocket::open(const std::string& path) {
  const auto step = [&](boost::system::error_code failed) -> Result<void> {
    if (!failed) return {};
    return fail(Errc::unavailable,
                fmt::format("forrst.socket: cannot listen on {}: {}", path, failed.message()));
  };
  net::http::remove_stale_socket(path);
  const asio::local::stream_protocol::endpoint endpoint(path);
  boost::system::error_code failed;
  acceptor_.open(endpoint.protocol(), failed);
  if (auto good = step(failed); !good) return good;
  const auto old_mask = umask(file_mask);
  acceptor_.bind(endpoint, failed);
  umask(old_mask);
  if (auto good = step(failed); !good) return good;
  path_ = path;
  acceptor_.listen(asio::socket_base::max_listen_connections, failed);
  if (auto good = step(failed); !good) return good;
  accept();
  return {};
}

void FrameSocket::accept() {
  acceptor_.async_accept([this](boost::system::error_code failed, FrameConnection::Socket socket) {
    if (failed == asio::error::operation_aborted) return;
    if (failed) return pause();
    take(std::move(socket));
    accept();
  });
}

void FrameSocket::pause() {
  pause_.expires_after(accept_pause);
  pause_.async_wait([this](boost::system::error_code stopped) {
    if (!stopped) accept();
  });
}

void FrameSocket::take(FrameConnection::Socket socket) {
  if (!admission_.enter(neighbour())) {
    const auto reply =
        services_.forrst->refuse(503, {.code = std::string(forrst::codes::unavailable),
                                       .message = "No more connections are accepted just now"});
    const auto frame = framed(reply.body);
    [[maybe_unused]] const auto told =
        send(socket.native_handle(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return;
  }
  FrameConnection::Place place{services_, clients_, principal_,
                               [&admission = admission_] { admission.leave(neighbour()); }};
  std::make_shared<FrameConnection>(std::move(socket), std::move(place))->start();
}

void FrameSocket::drain() {
  clients_->is_draining = true;
  std::vector<std::shared_ptr<FrameConnection>> all;
  for (auto* each : clients_->all) all.push_back(each->shared_from_this());
  for (const auto& each : all) each->drain();
}

void FrameSocket::close_all() {
  std::vector<std::shared_ptr<FrameConnection>> all;
  for (auto* each : clients_->all) all.push_back(each->shared_from_this());
  for (const auto& each : all) each->close();
}

}  // namespace holdfast::server
