// SPDX-License-Identifier: Apache-2.0
//
// A guard in this process, before an upstream of the test's own, and calls to it over a real
// socket.
#pragma once

#include "guard/guard.hpp"
#include "open/open.hpp"
#include "support/http_client.hpp"
#include "support/program.hpp"
#include "upstream.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>

namespace holdfast::guard {

using test::eventually;
using test::HttpAnswer;
using test::HttpCall;
using test::HttpConnection;
using test::Seen;
using test::Upstream;
using namespace std::chrono_literals;

class GuardTest : public testing::Test {
 protected:
  // A fresh memory store unless a URL is given. Options are what the test changes in `options`.
  void start(Upstream::Handler handler = Upstream::answer_ok, std::string store = {}) {
    upstream = std::make_unique<Upstream>(std::move(handler));
    start_before(upstream->url(), std::move(store));
  }
  void start_before(const std::string& url, std::string store = {}) {
    static std::atomic<int> count{0};
    if (store.empty()) store = fmt::format("memory:guard-test-{}", ++count);
    auto core = open_core(store);
    ASSERT_TRUE(core) << core.error().message;
    start_with(std::move(*core), url);
  }
  void start_with(std::shared_ptr<client::Core> core, const std::string& url) {
    auto place = parse_upstream(url);
    ASSERT_TRUE(place) << place.error().message;
    options.upstream = place->origin;
    options.upstream_path = place->base;
    options.listen = {{.host = "127.0.0.1", .port = 0, .socket_file = {}}};
    auto started = Guard::start(options, std::move(core));
    ASSERT_TRUE(started) << started.error().message;
    guard = std::move(*started);
    address = guard->addresses().front();
  }
  void TearDown() override {
    guard.reset();
    upstream.reset();
  }

  HttpAnswer call(const HttpCall& what) const {
    HttpConnection connection(address);
    connection.send(test::request_text(what, address));
    return connection.receive();
  }
  HttpAnswer post(std::string path, std::string fence, std::string body = "{}") const {
    return call({.method = "POST",
                 .path = std::move(path),
                 .body = std::move(body),
                 .headers = {{"Holdfast-Fence", std::move(fence)}}});
  }
  // The bytes as they are, on a connection of their own.
  HttpAnswer raw(std::string_view bytes) const {
    HttpConnection connection(address);
    connection.send(bytes);
    return connection.receive();
  }
  std::future<HttpAnswer> post_later(std::string path, std::string fence) const {
    return std::async(std::launch::async, [this, path, fence] { return post(path, fence); });
  }

  Options options;
  std::unique_ptr<Upstream> upstream;
  std::unique_ptr<Guard> guard;
  std::string address;
};

}  // namespace holdfast::guard
