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

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
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

  ServerOptions options;
  std::unique_ptr<Server> server;
  std::string address;  // "127.0.0.1:41234"
  std::shared_ptr<client::Core> core_;
};

}  // namespace holdfast::server
