// SPDX-License-Identifier: Apache-2.0
#include "support/http_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace holdfast::test {

namespace {

constexpr std::string_view own_503 =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 57\r\n\r\n"
    "upstream connect error or disconnect/reset before headers";

sockaddr_in at_loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

void without_delay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int connect_to_loopback(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = at_loopback(port);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    without_delay(fd);
    return fd;
  }
  close(fd);
  return -1;
}

bool send_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// False at the end.
bool receive_more(int fd, std::string& into) {
  std::array<char, 1 << 14> buffer{};
  const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  into.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

struct Message {
  std::string bytes;
  bool has_no_end = false;  // a stream: the rest follows
};

// Takes one message out of what came; empty at the end.
Message take_message(int fd, std::string& came) {
  while (true) {
    const auto head = came.find("\r\n\r\n");
    if (head != std::string::npos) {
      if (came.find("Transfer-Encoding: chunked") < head) return {std::exchange(came, {}), true};
      const auto field = came.find("Content-Length: ");
      const auto body = field < head ? std::strtoul(came.c_str() + field + 16, nullptr, 10) : 0UL;
      if (came.size() >= head + 4 + body) {
        auto whole = came.substr(0, head + 4 + body);
        came.erase(0, whole.size());
        return {std::move(whole)};
      }
    }
    if (!receive_more(fd, came)) return {};
  }
}

}  // namespace

HttpProxy::HttpProxy(std::uint16_t target_port)
    : target_(target_port), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  auto address = at_loopback(0);
  socklen_t size = sizeof(address);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, plain, size) != 0 || listen(listener_, 256) != 0 ||
      getsockname(listener_, plain, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "http proxy");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

HttpProxy::~HttpProxy() {
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
  }
  changed_.notify_all();
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  cut();
  for (Line& line : lines_) line.thread.join();
  close(listener_);
}

void HttpProxy::cut() {
  const std::lock_guard lock(mutex_);
  for (const Line& line : lines_) {
    if (line.has_ended) continue;
    shutdown(line.client, SHUT_RDWR);
    shutdown(line.server, SHUT_RDWR);
  }
}

void HttpProxy::delay_requests(Delay delay) {
  const std::lock_guard lock(mutex_);
  request_delay_ = delay;
}
void HttpProxy::delay_replies(Delay delay) {
  const std::lock_guard lock(mutex_);
  reply_delay_ = delay;
}
void HttpProxy::spoil(Fault fault, std::string text, unsigned count) {
  const std::lock_guard lock(mutex_);
  rules_.push_back({fault, std::move(text), count});
}
void HttpProxy::let_go() {
  {
    const std::lock_guard lock(mutex_);
    ++let_go_;
    std::erase_if(rules_, [](const Rule& rule) { return rule.fault == Fault::hold; });
  }
  changed_.notify_all();
}
void HttpProxy::all_well() {
  {
    const std::lock_guard lock(mutex_);
    request_delay_ = reply_delay_ = {};
    rules_.clear();
  }
  let_go();
}

HttpProxy::Counts HttpProxy::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void HttpProxy::accept_all() {
  while (true) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = connect_to_loopback(target_);
    if (server < 0) {
      close(client);
      continue;
    }
    without_delay(client);
    const std::lock_guard lock(mutex_);
    ++counts_.connections;
    Line& line = lines_.emplace_back();
    line.client = client;
    line.server = server;
    line.thread = std::thread([this, &line] { serve(line); });
  }
}

void HttpProxy::serve(Line& line) {
  std::string from_client;
  std::string from_server;
  while (exchange(line, from_client, from_server)) {
  }
  const std::lock_guard lock(mutex_);
  line.has_ended = true;
  close(line.client);
  close(line.server);
}

const HttpProxy::Fault* HttpProxy::next_fault(const std::string& request, Fault& found) {
  const std::lock_guard lock(mutex_);
  ++counts_.requests;
  for (auto each = rules_.begin(); each != rules_.end(); ++each) {
    if (!request.contains(each->text)) continue;
    found = each->fault;
    ++counts_.spoiled;
    if (--each->count == 0) rules_.erase(each);
    return &found;
  }
  return nullptr;
}

bool HttpProxy::rest(Delay delay) {
  if (delay == Delay::zero()) return true;
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, delay, [this] { return must_end_; });
}

bool HttpProxy::wait_for_go() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, before = let_go_] { return must_end_ || let_go_ != before; });
  return !must_end_;
}

bool HttpProxy::exchange(Line& line, std::string& from_client, std::string& from_server) {
  const auto request = take_message(line.client, from_client).bytes;
  if (request.empty()) return false;
  Fault fault{};
  const Fault* const met = next_fault(request, fault);
  const auto is = [met](Fault which) { return met != nullptr && *met == which; };
  std::unique_lock lock(mutex_);
  const auto [request_delay, reply_delay] = std::pair(request_delay_, reply_delay_);
  lock.unlock();
  if (is(Fault::break_before) || !rest(request_delay)) return false;
  if (is(Fault::hold) && !wait_for_go()) return false;
  if (!send_whole(line.server, request)) return false;
  lock.lock();
  ++counts_.passed_on;
  lock.unlock();
  const auto reply = take_message(line.server, from_server);
  lock.lock();
  if (met != nullptr && !reply.bytes.empty()) ++counts_.spoiled_answered;
  lock.unlock();
  if (reply.bytes.empty() || is(Fault::break_after) || !rest(reply_delay)) return false;
  if (is(Fault::drop_answer)) return true;
  if (!send_whole(line.client, is(Fault::answer_503) ? own_503 : reply.bytes)) return false;
  return !reply.has_no_end || pass_stream(line);
}

// Until one of them ends.
bool HttpProxy::pass_stream(const Line& line) {
  std::array<pollfd, 2> watched{pollfd{line.server, POLLIN, 0}, pollfd{line.client, POLLIN, 0}};
  while (poll(watched.data(), watched.size(), -1) >= 0 || errno == EINTR) {
    std::string bytes;
    if (watched[1].revents != 0) return false;
    if (watched[0].revents == 0) continue;
    if (!receive_more(line.server, bytes) || !send_whole(line.client, bytes)) return false;
  }
  return false;
}

}  // namespace holdfast::test
