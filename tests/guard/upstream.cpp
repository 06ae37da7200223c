// SPDX-License-Identifier: Apache-2.0
#include "upstream.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace holdfast::test {

namespace {

using std::chrono::milliseconds;

constexpr int look_every_ms = 20;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_readable(int fd, int patience_ms) {
  pollfd waits{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&waits, 1, patience_ms) > 0;
}

}  // namespace

std::string Seen::header(std::string_view name) const {
  std::optional<std::string> found;
  std::istringstream lines(head);
  std::string each;
  std::getline(lines, each);
  while (std::getline(lines, each) && each != "\r") {
    const auto colon = each.find(':');
    if (lower(each.substr(0, colon)) != lower(std::string(name))) continue;
    if (found) return "(several)";
    found = each.substr(colon + 2, each.size() - colon - 3);
  }
  return found.value_or("(none)");
}

bool Upstream::Talk::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void Upstream::Talk::end_sending() const { shutdown(fd_, SHUT_WR); }

bool Upstream::Talk::is_left(milliseconds patience) const {
  std::array<char, 1> byte{};
  return is_readable(fd_, static_cast<int>(patience.count())) &&
         recv(fd_, byte.data(), byte.size(), MSG_PEEK) <= 0;
}

void Upstream::answer_ok(const Seen&, Talk& talk) {
  talk.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok");
}

Upstream::Upstream(Handler handler) : handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 128) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no port for the upstream");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] {
    int number = 0;
    while (!is_ending_) {
      if (!is_readable(listener_, look_every_ms)) continue;
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      talks_.emplace_back([this, fd, at = ++number] { serve(fd, at); });
    }
  });
}

Upstream::~Upstream() {
  is_ending_ = true;
  acceptor_.join();
  talks_.clear();
  close(listener_);
}

std::vector<Seen> Upstream::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

void Upstream::serve(int fd, int number) {
  Talk talk(fd);
  std::string bytes;
  std::array<char, 65536> piece{};
  while (!is_ending_ && !talk.is_closing()) {
    const auto end = bytes.find("\r\n\r\n");
    if (end != std::string::npos) {
      Seen seen{.line = bytes.substr(0, bytes.find("\r\n")),
                .head = bytes.substr(0, end + 4),
                .body = {},
                .connection = number};
      const auto length = seen.header("Content-Length");
      const auto body_bytes = std::isdigit(length[0]) != 0 ? std::stoul(length) : 0;
      if (bytes.size() >= end + 4 + body_bytes) {
        seen.body = bytes.substr(end + 4, body_bytes);
        bytes.erase(0, end + 4 + body_bytes);
        {
          const std::lock_guard lock(mutex_);
          seen_.push_back(seen);
        }
        handler_(seen, talk);
        continue;
      }
    }
    if (!is_readable(fd, look_every_ms)) continue;
    const auto got = recv(fd, piece.data(), piece.size(), 0);
    if (got <= 0) break;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
  }
  close(fd);
}

}  // namespace holdfast::test
