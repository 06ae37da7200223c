// SPDX-License-Identifier: Apache-2.0
//
// A server that says exactly what a test tells it to say.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::test {

// Its end of one connection.
class RawPeer {
 public:
  explicit RawPeer(int fd) : fd_(fd) {}
  // One request's header and body (by Content-Length); empty at the end.
  std::string request() {
    while (true) {
      const auto head = in_.find("\r\n\r\n");
      if (head != std::string::npos) {
        const auto length = in_.find("Content-Length: ");
        const auto body =
            length < head ? std::strtoul(in_.c_str() + length + 16, nullptr, 10) : 0UL;
        if (in_.size() >= head + 4 + body) {
          auto whole = in_.substr(0, head + 4 + body);
          in_.erase(0, whole.size());
          return whole;
        }
      }
      char bytes[4096];
      const auto got = ::read(fd_, bytes, sizeof(bytes));
      if (got <= 0) return {};
      in_.append(bytes, static_cast<std::size_t>(got));
    }
  }
  void say(std::string_view bytes) {
    [[maybe_unused]] const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

 private:
  int fd_;
  std::string in_;
};

class RawServer {
 public:
  // Called on a thread of its own for every connection, which ends with it.
  using Script = std::function<void(RawPeer&, int nth)>;

  explicit RawServer(Script script) : script_(std::move(script)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    ::listen(listener_, 16);
    acceptor_ = std::thread([this] { accept(); });
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    for (auto& each : threads_) each.join();
    for (const int fd : open_) ::close(fd);
    ::close(listener_);
  }

  // From here on a connection is refused; those that are there go on.
  void stop_accepting() { ::shutdown(listener_, SHUT_RDWR); }
  std::uint16_t port() const { return port_; }
  int connections() const { return count_; }

 private:
  void accept() {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      open_.push_back(fd);
      threads_.emplace_back([this, fd, nth = count_++] {
        RawPeer peer(fd);
        script_(peer, nth);
        ::shutdown(fd, SHUT_RDWR);
      });
    }
  }

  Script script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> count_{0};
  std::vector<int> open_;  // of the acceptor's thread
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace holdfast::test
