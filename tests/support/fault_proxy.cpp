// SPDX-License-Identifier: Apache-2.0
#include "support/fault_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;

[[noreturn]] void give_up(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

int connect_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = loopback(port);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

void send_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// False when the peer is gone.
bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

FaultProxy::FaultProxy(std::uint16_t target_port)
    : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      targets_{target_port} {
  auto address = loopback(0);
  socklen_t size = sizeof(address);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || wake_ < 0) give_up("proxy");
  if (bind(listener_, plain, size) != 0 || listen(listener_, 64) != 0) give_up("listen");
  if (getsockname(listener_, plain, &size) != 0) give_up("getsockname");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

FaultProxy::~FaultProxy() {
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
  }
  change([](Faults&) {});
  thread_.join();
  close(listener_);
  close(wake_);
}

template <typename Change>
void FaultProxy::change(Change change) {
  const std::lock_guard lock(mutex_);
  change(faults_);
  eventfd_write(wake_, 1);
}

void FaultProxy::lead_to(std::vector<std::uint16_t> targets) {
  const std::lock_guard lock(mutex_);
  targets_ = std::move(targets);
  next_target_ = 0;
}

std::uint16_t FaultProxy::next_target() {
  const std::lock_guard lock(mutex_);
  return targets_[next_target_++ % targets_.size()];
}

void FaultProxy::delay_requests(Delay delay) {
  change([&](Faults& faults) { faults.request_delay = delay; });
}
void FaultProxy::delay_replies(Delay delay) {
  change([&](Faults& faults) { faults.reply_delay = delay; });
}
void FaultProxy::swallow_requests(bool on) {
  change([&](Faults& faults) { faults.swallow_requests = on; });
}
void FaultProxy::swallow_replies(bool on) {
  change([&](Faults& faults) { faults.swallow_replies = on; });
}
void FaultProxy::byte_by_byte(bool on) {
  change([&](Faults& faults) { faults.byte_by_byte = on; });
}
void FaultProxy::end_after(std::size_t reply_bytes, Ending how) {
  change([&](Faults& faults) { faults.end_after = reply_bytes, faults.ending = how; });
}
void FaultProxy::halve_next_reply(Ending how) {
  change([&](Faults& faults) { faults.halve_next = true, faults.ending = how; });
}
void FaultProxy::pause() {
  change([](Faults& faults) { faults.is_paused = true; });
}
void FaultProxy::resume() {
  change([](Faults& faults) { faults.is_paused = false; });
}
void FaultProxy::refuse(bool on) {
  change([&](Faults& faults) { faults.refuse = on; });
}
void FaultProxy::all_well() {
  change([](Faults& faults) { faults = {}; });
}

void FaultProxy::cut() {
  change([this](Faults&) { must_cut_ = true; });
}

FaultProxy::Counts FaultProxy::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void FaultProxy::run() {
  while (true) {
    Faults faults;
    bool must_cut = false;
    {
      const std::lock_guard lock(mutex_);
      if (must_end_) break;
      faults = faults_;
      must_cut = std::exchange(must_cut_, false);
    }
    if (must_cut) {
      for (Line& line : lines_) end(line, Ending::reset);
    }
    if (!faults.is_paused) {
      accept_one(faults);
      for (Line& line : lines_) take_in(line, faults);
      for (Line& line : lines_) pass_on(line, faults);
    }
    std::erase_if(lines_, [](const Line& line) { return line.has_ended; });
    wait_for_something(faults);
  }
  for (Line& line : lines_) end(line, Ending::reset);
}

void FaultProxy::wait_for_something(const Faults& faults) {
  std::vector<pollfd> watched = {{wake_, POLLIN, 0}};
  auto next = Clock::now() + 1s;
  if (!faults.is_paused) {
    watched.push_back({listener_, POLLIN, 0});
    for (const Line& line : lines_) {
      watched.push_back({line.client, POLLIN, 0});
      watched.push_back({line.server, POLLIN, 0});
      if (!line.requests.empty()) next = std::min(next, line.requests.front().due);
      if (!line.replies.empty()) next = std::min(next, line.replies.front().due);
    }
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
  eventfd_t ignored = 0;
  eventfd_read(wake_, &ignored);
}

void FaultProxy::accept_one(const Faults& faults) {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = faults.refuse ? -1 : connect_to(next_target());
  if (server < 0) {
    close(client);
    return;
  }
  send_at_once(client);
  send_at_once(server);
  lines_.push_back({.client = client, .server = server});
  const std::lock_guard lock(mutex_);
  ++counts_.connections;
}

void FaultProxy::take_in(Line& line, const Faults& faults) {
  alignas(64) static thread_local std::array<char, 1 << 16> buffer;
  for (const bool is_request : {true, false}) {
    if (line.has_ended) return;
    const int from = is_request ? line.client : line.server;
    const ssize_t got = recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return end(line, Ending::close);
    const auto size = static_cast<std::size_t>(got);
    const std::lock_guard lock(mutex_);
    if (is_request) {
      ++counts_.request_reads;
      counts_.request_bytes += size;
    }
    bool& has_lost = is_request ? line.lost_requests : line.lost_replies;
    has_lost |= is_request ? faults.swallow_requests : faults.swallow_replies;
    if (has_lost) continue;
    const auto delay = is_request ? faults.request_delay : faults.reply_delay;
    auto& pieces = is_request ? line.requests : line.replies;
    pieces.push_back({Clock::now() + delay, std::string(buffer.data(), size)});
  }
}

void FaultProxy::pass_on(Line& line, const Faults& faults) {
  const auto now = Clock::now();
  while (!line.has_ended && !line.requests.empty() && line.requests.front().due <= now) {
    const Piece piece = std::move(line.requests.front());
    line.requests.pop_front();
    if (!send_all(line.server, piece.bytes)) end(line, Ending::close);
  }
  while (!line.has_ended && !line.replies.empty() && line.replies.front().due <= now) {
    Piece piece = std::move(line.replies.front());
    line.replies.pop_front();
    pass_reply(line, std::move(piece.bytes), faults);
  }
}

void FaultProxy::pass_reply(Line& line, std::string bytes, const Faults& faults) {
  std::unique_lock lock(mutex_);
  bool is_last = false;
  if (std::exchange(faults_.halve_next, false)) faults_.end_after = bytes.size() / 2;
  if (faults_.end_after) {
    is_last = *faults_.end_after <= bytes.size();
    if (is_last) bytes.resize(*faults_.end_after);
    *faults_.end_after -= bytes.size();
    if (is_last) faults_.end_after.reset();
  }
  const Ending how = faults_.ending;
  counts_.reply_bytes += bytes.size();
  lock.unlock();

  bool is_there = true;
  if (!faults.byte_by_byte) {
    is_there = send_all(line.client, bytes);
  } else {
    for (const char& byte : bytes) {
      is_there = is_there && send_all(line.client, {&byte, 1});
      // Gives the reader a chance to see it alone.
      std::this_thread::sleep_for(20us);
    }
  }
  if (!is_there || is_last) end(line, is_last ? how : Ending::close);
}

void FaultProxy::end(Line& line, Ending how) {
  if (std::exchange(line.has_ended, true)) return;
  if (how == Ending::reset) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(line.client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  close(line.client);
  close(line.server);
}

}  // namespace holdfast::test
