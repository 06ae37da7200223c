// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/holdfast.hpp>

#include "support/redis_server.hpp"
#include "support/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::test {

using namespace std::chrono_literals;

// A server of its own, a client on it, and a plain connection to look behind their backs.
class RedisTest : public testing::Test {
 protected:
  using Words = std::vector<std::string>;

  explicit RedisTest(Words arguments = {}) : server(std::move(arguments)), raw(server) {}

  Client open_client(const std::string& options = {}) const {
    auto client = open(server.url() + options);
    if (!client) throw std::runtime_error(client.error().message);
    return std::move(*client);
  }
  Errc error_of_open(const std::string& url, std::string* message = nullptr) const {
    auto client = open(url);
    if (client) return Errc{};
    if (message) *message = client.error().message;
    return client.error().code;
  }

  RedisServer server;
  RawRedis raw;
};

}  // namespace holdfast::test
