// SPDX-License-Identifier: Apache-2.0
#include "faults_redlock/redlock_fixture.hpp"

#include "faults_redis/faults_fixture.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace holdfast::faults {

Client must_open(const std::string& url) {
  auto client = open(url);
  if (!client) throw std::runtime_error(client.error().message);
  return std::move(*client);
}

std::string address_of(std::uint16_t port) { return fmt::format("127.0.0.1:{}", port); }

std::string redlock_url(const std::vector<std::uint16_t>& ports, const std::string& options) {
  std::string members;
  for (const auto port : ports) {
    if (!members.empty()) members += ',';
    members += address_of(port);
  }
  std::string all = options;
  if (!all.contains("timeout=")) all += all.empty() ? "timeout=10s" : "&timeout=10s";
  // The servers were started a moment ago.
  if (!all.contains("grace=")) all += "&grace=0s";
  return fmt::format("redlock://{}?{}", members, all);
}

RedlockTest::RedlockTest(std::size_t size, std::vector<std::string> arguments) {
  for (std::size_t at = 0; at < size; ++at) {
    servers_.push_back(std::make_unique<test::RedisServer>(arguments));
  }
}

std::vector<std::uint16_t> RedlockTest::ports() const {
  std::vector<std::uint16_t> all;
  for (const auto& each : servers_) all.push_back(each->port());
  return all;
}

void RedlockTest::kill(std::initializer_list<std::size_t> which) {
  for (const auto at : which) server(at).kill();
}

void RedlockTest::stop(std::initializer_list<std::size_t> which) {
  for (const auto at : which) server(at).stop();
}

void RedlockTest::cont() {
  for (const auto& each : servers_) each->cont();
}

std::optional<HolderView> RedlockTest::holder_at(std::size_t at, const std::string& name) {
  if (server(at).pid() == 0) return std::nullopt;
  const Client client = must_open(server(at).url() + "?timeout=20s");
  auto seen = client.inspect(name);
  eventually([&] { return seen || (seen = client.inspect(name)); });
  if (!seen) throw std::runtime_error(seen.error().message);
  return seen->holders.empty() ? std::nullopt : std::optional(seen->holders.front());
}

Fence RedlockTest::fence_at(std::size_t at, const std::string& name) {
  const auto holder = holder_at(at, name);
  return holder ? holder->fence : 0;
}

std::vector<Fence> RedlockTest::fences(const std::string& name) {
  std::vector<Fence> all;
  for (std::size_t at = 0; at < size(); ++at) all.push_back(fence_at(at, name));
  return all;
}

std::uint64_t RedlockTest::commands_sent() {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < size(); ++at) {
    test::RawRedis raw(server(at));
    sum += faults::commands_sent(raw);
  }
  return sum;
}

std::string RedlockTest::left_behind() {
  std::string all;
  for (std::size_t at = 0; at < size(); ++at) {
    if (server(at).pid() == 0) continue;
    const std::string found = faults::left_behind(server(at), 8s);
    if (!found.empty()) all += fmt::format("{}: {}", address(at), found);
  }
  return all;
}

}  // namespace holdfast::faults
