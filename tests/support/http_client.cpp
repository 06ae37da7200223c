// SPDX-License-Identifier: Apache-2.0
#include "support/http_client.hpp"

#include "support/timing.hpp"

#include <arpa/inet.h>
#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace holdfast::test {

namespace json = boost::json;

namespace {

int connect_tcp(const std::string& address) {
  const auto colon = address.rfind(':');
  const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return fd;
  close(fd);
  return -1;
}

int connect_unix(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, path.c_str(), std::min(path.size(), sizeof(to.sun_path) - 1));
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return fd;
  close(fd);
  return -1;
}

constexpr std::chrono::seconds long_patience{30};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char each) { return std::tolower(each); });
  return text;
}

}  // namespace

json::value HttpAnswer::json() const {
  json::error_code failed;
  auto value = json::parse(body, failed);
  return failed ? json::value() : value;
}

std::string HttpAnswer::text(std::string_view field) const {
  const auto value = json();
  const auto* object = value.if_object();
  const auto* found = object != nullptr ? object->if_contains(field) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::int64_t HttpAnswer::number(std::string_view field) const {
  const auto value = json();
  const auto* object = value.if_object();
  const auto* found = object != nullptr ? object->if_contains(field) : nullptr;
  return found != nullptr && found->is_int64() ? found->get_int64() : -1;
}

HttpConnection::HttpConnection(const std::string& address)
    : fd_(address.starts_with("unix:") ? connect_unix(address.substr(5)) : connect_tcp(address)) {}

HttpConnection::~HttpConnection() { close(); }

void HttpConnection::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void HttpConnection::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close();
}

void HttpConnection::end_sending() { shutdown(fd_, SHUT_WR); }

bool HttpConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool HttpConnection::fill(std::chrono::microseconds time) {
  if (fd_ < 0) return false;  // poll would wait all the same
  pollfd waits{.fd = fd_, .events = POLLIN, .revents = 0};
  if (poll(&waits, 1, static_cast<int>(time / std::chrono::milliseconds(1))) <= 0) return false;
  std::array<char, 16384> piece{};
  const auto got = recv(fd_, piece.data(), piece.size(), 0);
  if (got <= 0) return false;
  buffer_.append(piece.data(), static_cast<std::size_t>(got));
  return true;
}

std::optional<std::string> HttpConnection::line(std::chrono::milliseconds patience) {
  for (;;) {
    const auto end = buffer_.find("\r\n");
    if (end != std::string::npos) {
      auto text = buffer_.substr(0, end);
      buffer_.erase(0, end + 2);
      return text;
    }
    if (!fill(at_most(patience))) return std::nullopt;
  }
}

std::optional<std::string> HttpConnection::bytes(std::size_t count,
                                                 std::chrono::milliseconds patience) {
  while (buffer_.size() < count) {
    if (!fill(at_most(patience))) return std::nullopt;
  }
  auto text = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return text;
}

HttpAnswer HttpConnection::receive(std::chrono::milliseconds patience) {
  HttpAnswer answer;
  const auto status = line(patience);
  if (!status || !status->starts_with("HTTP/1.1 ")) return answer;
  const int code = std::stoi(status->substr(9, 3));
  while (auto header = line(patience)) {
    if (header->empty()) break;
    const auto colon = header->find(':');
    const auto value = header->find_first_not_of(' ', colon + 1);
    answer.headers[lower(header->substr(0, colon))] =
        value == std::string::npos ? std::string() : header->substr(value);
  }
  if (code == 100) return receive(patience);
  answer.status = code;
  if (const auto length = answer.headers.find("content-length"); length != answer.headers.end()) {
    answer.body = bytes(std::stoul(length->second), patience).value_or("");
  } else if (answer.headers.contains("transfer-encoding")) {
    while (const auto size = line(patience)) {
      const auto count = std::stoul(*size, nullptr, 16);
      const auto piece = bytes(count, patience);
      line(patience);
      if (!piece || count == 0) break;
      answer.body += *piece;
    }
  }
  return answer;
}

std::string HttpConnection::receive_until(std::string_view text) {
  while (!buffer_.contains(text) && fill(at_most(long_patience))) {
  }
  return std::exchange(buffer_, {});
}

std::string HttpConnection::receive_to_end() {
  while (fill(at_most(long_patience))) {
  }
  return std::exchange(buffer_, {});
}

std::string HttpConnection::receive_for(std::chrono::milliseconds silence) {
  while (fill(silence)) {
  }
  return std::exchange(buffer_, {});
}

bool HttpConnection::is_closed_within(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + at_most(patience);
  std::array<char, 4096> piece{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd waits{.fd = fd_, .events = POLLIN, .revents = 0};
    if (poll(&waits, 1, static_cast<int>(left.count())) <= 0) return false;
    if (recv(fd_, piece.data(), piece.size(), 0) <= 0) return true;
  }
}

std::string request_text(const HttpCall& call, std::string_view host) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", call.method, call.path, host);
  bool has_type = false;
  for (const auto& [name, value] : call.headers) {
    text += fmt::format("{}: {}\r\n", name, value);
    has_type = has_type || lower(name) == "content-type";
  }
  if (!call.body.empty() && !has_type) text += "Content-Type: application/json\r\n";
  if (!call.body.empty() || call.method == "POST") {
    text += fmt::format("Content-Length: {}\r\n", call.body.size());
  }
  return text + "\r\n" + call.body;
}

}  // namespace holdfast::test
