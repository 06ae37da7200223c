// SPDX-License-Identifier: Apache-2.0
//
// A server on a Unix socket that answers frames exactly as a test tells it to.
#pragma once

#include <holdfast/forrst/client.hpp>

#include "support/temporary_folder.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::test {

// An answer of the protocol to this request: `rest` is what follows the id.
inline std::string reply_to(std::string_view request, std::string_view rest) {
  const auto parsed = boost::json::parse(request);
  return fmt::format(R"({{"protocol":{{"name":"forrst","version":"0.1.0"}},"id":{},{}}})",
                     boost::json::serialize(parsed.at("id")), rest);
}

inline std::string failure_with(std::string_view code, std::string_view details = "{}") {
  return fmt::format(R"("result":null,"errors":[{{"code":"{}","message":"no","details":{}}}])",
                     code, details);
}

// With what a call failed.
inline Errc code_of(const Result<forrst::CallReply>& reply) {
  return reply ? Errc{} : reply.error().code;
}

inline std::string length_of(std::size_t size) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    bytes.push_back(static_cast<char>((size >> shift) & 0xffU));
  }
  return bytes;
}

// Its end of one connection.
class FramePeer {
 public:
  explicit FramePeer(int fd) : fd_(fd) {}

  // The next frame without its length; empty at the end.
  std::string request() {
    const auto head = bytes(4);
    if (head.size() < 4) return {};
    std::size_t size = 0;
    for (const char each : head) size = (size << 8U) | static_cast<unsigned char>(each);
    return bytes(size);
  }
  std::string bytes(std::size_t count) {
    std::string out(count, '\0');
    std::size_t have = 0;
    while (have < count) {
      const auto got = ::read(fd_, out.data() + have, count - have);
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    out.resize(have);
    return out;
  }
  void say(std::string_view raw) {
    while (!raw.empty()) {
      const auto sent = ::send(fd_, raw.data(), raw.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      raw.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void answer(std::string_view json) { say(length_of(json.size()).append(json)); }
  // Until the other side has closed.
  void wait_for_the_end() {
    while (!bytes(1).empty()) {
    }
  }
  void close() { ::shutdown(fd_, SHUT_RDWR); }

 private:
  int fd_;
};

class FrameServer {
 public:
  // Called on a thread of its own for every connection, which ends with it.
  using Script = std::function<void(FramePeer&, int nth)>;

  explicit FrameServer(Script script) : FrameServer(std::move(script), {}) {}
  // At a path of the test's choice.
  FrameServer(Script script, std::string path)
      : script_(std::move(script)),
        path_(path.empty() ? (folder_.path() / "s").string() : std::move(path)) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    ::listen(listener_, 64);
    acceptor_ = std::thread([this] { accept(); });
  }
  FrameServer(const FrameServer&) = delete;
  FrameServer& operator=(const FrameServer&) = delete;
  ~FrameServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (auto& each : threads_) each.join();
    ::close(listener_);
  }

  std::string url() const { return "unix:" + path_; }
  int connections() const { return count_; }

 private:
  void accept() {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      {
        const std::lock_guard lock(mutex_);
        open_.push_back(fd);
      }
      threads_.emplace_back([this, fd, nth = count_++] {
        FramePeer peer(fd);
        script_(peer, nth);
        const std::lock_guard lock(mutex_);
        std::erase(open_, fd);
        ::close(fd);
      });
    }
  }

  TemporaryFolder folder_;
  Script script_;
  std::string path_;
  int listener_ = -1;
  std::atomic<int> count_{0};
  std::mutex mutex_;
  std::vector<int> open_;             // guarded by mutex_
  std::vector<std::thread> threads_;  // of the acceptor's thread, until it ended
  std::thread acceptor_;
};

// Answers every request of every connection alike.
inline FrameServer::Script always(std::string rest) {
  return [rest = std::move(rest)](FramePeer& peer, int) {
    for (auto request = peer.request(); !request.empty(); request = peer.request()) {
      peer.answer(reply_to(request, rest));
    }
  };
}

}  // namespace holdfast::test
