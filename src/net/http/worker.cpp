// SPDX-License-Identifier: Apache-2.0
#include "net/http/worker.hpp"

#include <boost/asio/post.hpp>

#include <vector>

namespace holdfast::net::http {

namespace {
// Fine enough for time-outs of seconds, and ten thousand connections cost next to nothing.
constexpr auto sweep_interval = std::chrono::milliseconds(500);
}  // namespace

Worker::Worker(Service& service, ConnectionLimits limits, Closed closed)
    : service_(service),
      limits_(limits),
      closed_(std::move(closed)),
      work_(boost::asio::make_work_guard(context_)),
      sweeper_(context_) {
  sweep();
  thread_ = std::thread([this] { context_.run(); });
}

Worker::~Worker() { stop(); }

void Worker::stop() {
  if (!thread_.joinable()) return;
  context_.stop();
  thread_.join();
}

void Worker::add(Channel::Socket socket, Channel::TlsContext tls, Peer peer) {
  count_.fetch_add(1, std::memory_order_relaxed);
  boost::asio::post(context_, [this, socket = std::move(socket), tls = std::move(tls),
                               peer = std::move(peer)]() mutable {
    std::make_shared<Connection>(*this, std::move(socket), std::move(tls), std::move(peer))
        ->start();
  });
}

void Worker::joined(Connection& connection) {
  connections_.push_back(connection);
  if (is_draining_) connection.drain();
}

void Worker::left(Connection& connection) {
  connections_.erase(connections_.iterator_to(connection));
  count_.fetch_sub(1, std::memory_order_relaxed);
  closed_(connection.peer());
}

void Worker::sweep() {
  sweeper_.expires_after(sweep_interval);
  sweeper_.async_wait([this](boost::system::error_code stopped) {
    if (stopped) return;
    const auto now = runtime::LocalClock::now();
    // Ending one may end others, so they are found first.
    std::vector<std::shared_ptr<Connection>> late;
    for (Connection& each : connections_) {
      if (each.deadline() <= now) late.push_back(each.shared_from_this());
    }
    for (const auto& each : late) each->expire();
    sweep();
  });
}

void Worker::drain() {
  is_draining_ = true;
  std::vector<std::shared_ptr<Connection>> all;
  for (Connection& each : connections_) all.push_back(each.shared_from_this());
  for (const auto& each : all) each->drain();
}

void Worker::close_all() {
  std::vector<std::shared_ptr<Connection>> all;
  for (Connection& each : connections_) all.push_back(each.shared_from_this());
  for (const auto& each : all) each->close();
}

}  // namespace holdfast::net::http
