// SPDX-License-Identifier: Apache-2.0
//
// A server in this process, on a free port, and calls to it over a real socket. Every call that is
// made with `call` is also written down for the check against the OpenAPI document.
#pragma once

#include "open/open.hpp"
#include "server/config.hpp"
#include "server/server.hpp"
#include "support/http_client.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/timing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::server {

using test::HttpAnswer;
using test::HttpCall;
using test::HttpConnection;

// The real program, on a free port of this machine, with a home that is empty.
class ServedProgram {
 public:
  // Words behind "serve --listen 127.0.0.1:0".
  explicit ServedProgram(std::vector<std::string> words, std::vector<std::string> wrapper = {});

  test::Program& program() { return program_; }
  const std::string& address() const { return address_; }  // empty: it did not start

 private:
  test::Program program_;
  std::string address_;
};

class ServerTest : public testing::Test {
 protected:
  // A fresh memory store unless a URL is given. Options are what the test changes in `options`.
  void start(std::string store = {}) {
    static std::atomic<int> count{0};
    if (store.empty()) store = fmt::format("memory:server-test-{}", ++count);
    auto core = open_core(store);
    ASSERT_TRUE(core) << core.error().message;
    core_ = *core;
    options.listen = {"127.0.0.1:0"};
    auto good = check(options);
    ASSERT_TRUE(good) << good.error().message;
    auto started = Server::start(options, std::move(*core));
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
    address = server->addresses().front();
  }

  HttpAnswer call(const HttpCall& what) { return call_at(address, what); }
  HttpAnswer get(std::string path) { return call({.method = "GET", .path = std::move(path)}); }
  HttpAnswer post(std::string path, std::string body = {}) {
    return call({.method = "POST", .path = std::move(path), .body = std::move(body)});
  }
  static HttpAnswer call_at(const std::string& where, const HttpCall& what);
  // On a thread of its own.
  std::future<HttpAnswer> post_later(std::string path, std::string body = {}) {
    return std::async(std::launch::async, [this, path = std::move(path), body = std::move(body)] {
      return post(path, body);
    });
  }

  // True once the lock has so many of them.
  bool has_holders(const std::string& name, std::size_t count) {
    return test::eventually([&] { return counted(name, "holders") == count; });
  }
  bool has_waiters(const std::string& name, std::size_t count = 1) {
    return test::eventually([&] { return counted(name, "waiters") == count; });
  }
  // True once what is left of the lock's lease has grown.
  bool is_renewed(const std::string& name);
  // How many clients are connected, as far as the server has noticed.
  std::int64_t connections() { return get("/v1/stats").number("connections"); }

  std::size_t counted(const std::string& name, std::string_view field);

  ServerOptions options;
  std::unique_ptr<Server> server;
  std::string address;  // "127.0.0.1:41234"
  std::shared_ptr<client::Core> core_;
};

}  // namespace holdfast::server
