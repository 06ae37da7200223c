// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/raw_server.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <string>

namespace holdfast::server {

// An upstream that answers nobody while it is shut: an operation under a lock that lasts exactly as
// long as a test needs it to.
class GatedUpstream {
 public:
  GatedUpstream() = default;
  GatedUpstream(const GatedUpstream&) = delete;
  GatedUpstream& operator=(const GatedUpstream&) = delete;
  ~GatedUpstream() { open(); }

  std::string url() const { return fmt::format("http://127.0.0.1:{}/", server_.port()); }
  void open() { set(true); }
  void shut() { set(false); }

 private:
  void set(bool is_open) {
    const std::lock_guard lock(mutex_);
    is_open_ = is_open;
    changed_.notify_all();
  }
  void serve(test::RawPeer& peer) {
    while (!peer.request().empty()) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_open_; });
      peer.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;  // guarded by mutex_
  test::RawServer server_{[this](test::RawPeer& peer, int) { serve(peer); }};
};

}  // namespace holdfast::server
