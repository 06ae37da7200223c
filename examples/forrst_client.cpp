// SPDX-License-Identifier: Apache-2.0
//
// Calls a function of a Forrst server under a lock that the server holds meanwhile.
//
//   forrst_client http://127.0.0.1:3009/forrst     `holdfast serve`
//   forrst_client unix:/run/forrst.sock            any server that speaks frames
//   forrst_client                                  one in this very process
#include <holdfast/forrst/client.hpp>
#include <holdfast/forrst/service.hpp>
#include <holdfast/holdfast.hpp>

#include <boost/json/serialize.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;
namespace forrst = holdfast::forrst;

namespace {

// The least that can be called a server: one connection, one frame after the other.
class SmallServer {
 public:
  SmallServer() : path_("/tmp/holdfast-forrst-" + std::to_string(getpid())) {
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size());
    bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    listen(listener_, 1);
    thread_ = std::thread([this] { serve(); });
  }
  ~SmallServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    unlink(path_.c_str());
  }
  std::string url() const { return "unix:" + path_; }

 private:
  static bool read_all(int from, char* into, std::size_t size) {
    return recv(from, into, size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }

  void serve() const {
    const auto service = forrst::Service::make(*holdfast::open("memory:"));
    const int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    std::array<unsigned char, 4> length{};
    while (read_all(peer, reinterpret_cast<char*>(length.data()), length.size())) {
      std::size_t size = 0;
      for (const auto byte : length) size = size << 8U | byte;
      if (size > forrst::max_request_bytes) break;
      std::string request(size, '\0');
      if (!read_all(peer, request.data(), size)) break;
      const auto body = service->handle(request).body;
      for (std::size_t i = 0; i < length.size(); ++i) {
        length[i] = static_cast<unsigned char>(body.size() >> (8 * (3 - i)));
      }
      send(peer, length.data(), length.size(), MSG_NOSIGNAL | MSG_MORE);
      send(peer, body.data(), body.size(), MSG_NOSIGNAL);
    }
    close(peer);
  }

  std::string path_;
  int listener_ = -1;
  std::thread thread_;
};

int call(const forrst::Client& client) {
  // Ours while the function runs, and for 30 s at most; waits for it for up to 5 s. If somebody
  // still has it then, the call is made again, a little later each time.
  const auto reply =
      client.call({.function = "urn:cline:forrst:ext:diagnostics:fn:ping",
                   .lock = forrst::LockOptions{.key = "user:123", .ttl = 30s, .block = 5s},
                   .backoff = forrst::Backoff{.attempts = 3}});
  if (!reply) {
    // outcome_unknown: it may have run. unavailable: it has not.
    std::cerr << holdfast::to_string(reply.error().code) << ": " << reply.error().message << '\n';
    return 1;
  }
  for (const auto& fault : reply->faults) std::cerr << fault.code << ": " << fault.message << '\n';
  if (!reply->ok()) return 1;
  std::cout << boost::json::serialize(reply->result) << '\n';
  if (const auto lock = reply->lock()) std::cout << "under a lock, fence " << lock->fence << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<SmallServer> server;
  if (argc < 2) server.emplace();
  int failed = 1;
  {
    const auto client = forrst::Client::open(argc > 1 ? argv[1] : server->url());
    if (client) {
      failed = call(*client);
    } else {
      std::cerr << client.error().message << '\n';
    }
  }
  return failed;  // the client has closed its connection, which ends the server
}
