// SPDX-License-Identifier: Apache-2.0
//
// Servers in this process, and clients of theirs.
#pragma once

#include <holdfast/holdfast.hpp>

#include "backends/memory/memory_store.hpp"
#include "backends/remote/remote_store.hpp"
#include "client/core.hpp"
#include "open/open.hpp"
#include "runtime/spawn.hpp"
#include "server/server.hpp"
#include "support/temporary_folder.hpp"
#include "support/timing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace holdfast::test {

using namespace std::chrono_literals;

class RemoteTest : public testing::Test {
 protected:
  using ServerPtr = std::unique_ptr<server::Server>;

  // All servers of one test have the same store behind them. Port 0: any.
  ServerPtr serve(std::uint16_t port = 0, server::ServerOptions options = {}) {
    options.listen = {fmt::format("127.0.0.1:{}", port)};
    options.drain = 50ms;
    Result<ServerPtr> started = fail(Errc::unavailable, "not started");
    // A port that was just given up may not be free at once.
    eventually([&] {
      started = server::Server::start(options, client::make_core(store, runtime));
      return started.has_value();
    });
    if (!started) throw std::runtime_error(started.error().message);
    return *std::move(started);
  }
  static std::uint16_t port_of(const server::Server& server) {
    const auto address = server.addresses().front();
    return static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
  }
  static std::string url_of(std::uint16_t port) { return fmt::format("http://127.0.0.1:{}", port); }
  static std::string url_of(const server::Server& server) { return url_of(port_of(server)); }
  static Client client_at(const std::string& url) {
    auto client = open(url);
    if (!client) throw std::runtime_error(client.error().message);
    return std::move(*client);
  }
  TemporaryFolder folder;
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
  std::shared_ptr<store::Store> store =
      backends::memory::shared_memory_store(folder.path(), runtime);
};

}  // namespace holdfast::test
