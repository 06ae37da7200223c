// SPDX-License-Identifier: Apache-2.0
//
// Several servers of the test's own that know nothing of each other, and a look at each of them
// behind the back of those who vote.
#pragma once

#include <holdfast/holdfast.hpp>

#include "support/redis_server.hpp"
#include "support/renewed.hpp"
#include "support/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::faults {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using test::at_most;
using test::eventually;
using test::gets_renewed;
using testing::HasSubstr;

template <typename T>
testing::AssertionResult is_ok(const Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << to_string(result.error().code) << ": " << result.error().message;
}

template <typename T>
std::string_view code_of(const Result<T>& result) {
  return result ? "ok" : to_string(result.error().code);
}

template <typename T>
std::string message_of(const Result<T>& result) {
  return result ? "ok" : result.error().message;
}

inline testing::AssertionResult is_released(const Result<Released>& found) {
  if (!found) return is_ok(found);
  if (*found == Released::released) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << (*found == Released::already_expired ? "had expired" : "held by another");
}

class Stopwatch {
 public:
  Micros time() const { return std::chrono::duration_cast<Micros>(SteadyClock::now() - began_); }

 private:
  const SteadyClock::time_point began_ = SteadyClock::now();
};

// Asks until enough members were quick enough to decide it.
template <typename Ask>
auto decided(Ask ask) {
  auto answer = ask();
  eventually([&] {
    if (code_of(answer) != "quorum_not_reached") return true;
    answer = ask();
    return false;
  });
  return answer;
}

Client must_open(const std::string& url);

// "127.0.0.1:PORT", as messages have it.
std::string address_of(std::uint16_t port);
// A member may take the longest time there is and counts as soon as it is there, unless the options
// say how long.
std::string redlock_url(const std::vector<std::uint16_t>& ports, const std::string& options = "");

class RedlockTest : public testing::Test {
 protected:
  explicit RedlockTest(std::size_t size = 5, std::vector<std::string> arguments = {});

  void add(std::unique_ptr<test::RedisServer> server) { servers_.push_back(std::move(server)); }
  std::size_t size() const { return servers_.size(); }
  test::RedisServer& server(std::size_t at) { return *servers_[at]; }
  std::string address(std::size_t at) const { return address_of(servers_[at]->port()); }
  std::vector<std::uint16_t> ports() const;
  std::string url(const std::string& options = "") const { return redlock_url(ports(), options); }
  Client open_all(const std::string& options = "") const { return must_open(url(options)); }

  void kill(std::initializer_list<std::size_t> which);
  void stop(std::initializer_list<std::size_t> which);
  void cont();

  // Who has the lock on one server, by a client of that server alone.
  std::optional<HolderView> holder_at(std::size_t at, const std::string& name);
  Fence fence_at(std::size_t at, const std::string& name);
  std::vector<Fence> fences(const std::string& name);
  // By the clients, of all servers together.
  std::uint64_t commands_sent();
  // What is in the databases besides the counter of fences, although it had time to vanish; "" if
  // nothing. That time is shorter than a lease of 30 s. Servers that were killed have nothing.
  std::string left_behind();

 private:
  std::vector<std::unique_ptr<test::RedisServer>> servers_;
};

}  // namespace holdfast::faults
