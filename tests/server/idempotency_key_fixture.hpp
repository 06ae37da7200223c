// SPDX-License-Identifier: Apache-2.0
//
// A server with one upstream that is counted, and calls to it under an Idempotency-Key.
#pragma once

#include "net/raw_server.hpp"
#include "server_fixture.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace holdfast::server {

inline constexpr auto charged =
    "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nLocation: /charges/9\r\n"
    "Content-Length: 7\r\n\r\ncharged";
inline constexpr auto charge = R"({"upstream":"billing","body":{"amount":12}})";

class IdempotencyKeyTest : public ServerTest {
 protected:
  // An upstream that counts its requests, and answers each by what `reply` says.
  using Reply = std::function<void(test::RawPeer&, int nth)>;
  void start_with(Reply reply, std::string store = {}) {
    upstream_.emplace([this, reply = std::move(reply)](test::RawPeer& peer, int) {
      for (;;) {
        auto request = peer.request();
        if (request.empty()) return;
        const int nth = ++calls;
        {
          const std::lock_guard lock(mutex_);
          last_request_ = std::move(request);
        }
        reply(peer, nth);
        if (nth == cut_at) return;
      }
    });
    options.patterns.upstreams["billing"] = fmt::format("http://127.0.0.1:{}/", upstream_->port());
    start(std::move(store));
  }
  void start_answering(std::string answer, std::string store = {}) {
    start_with([answer = std::move(answer)](test::RawPeer& peer, int) { peer.say(answer); },
               std::move(store));
  }
  static HttpCall with_key(const std::string& key, const std::string& body = charge,
                           const std::string& path = "watchdog/order-7") {
    return {.method = "POST",
            .path = "/api/locks/" + path,
            .body = body,
            .headers = {{"Idempotency-Key", key}}};
  }
  HttpAnswer run(const std::string& key = "k1", const std::string& body = charge,
                 const std::string& path = "watchdog/order-7") {
    return call(with_key(key, body, path));
  }
  std::string last_request() {
    const std::lock_guard lock(mutex_);
    return last_request_;
  }
  std::string metric(const std::string& outcome) {
    const auto line =
        fmt::format("holdfast_idempotency_requests_total{{outcome=\"{}\"}} ", outcome);
    const auto text = get("/metrics").body;
    const auto at = text.find(line) + line.size();
    return text.substr(at, text.find('\n', at) - at);
  }

  std::atomic<int> calls{0};
  int cut_at = 0;  // the connection ends behind this request

 private:
  std::mutex mutex_;
  std::string last_request_;  // guarded by mutex_
  std::optional<test::RawServer> upstream_;
};

}  // namespace holdfast::server
