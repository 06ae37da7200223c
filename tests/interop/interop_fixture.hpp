// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/holdfast.hpp>

#include "peers.hpp"
#include "support/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace holdfast::test {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// A waiter asks by itself every 0.8 s to 1.2 s. Whoever is faster than this was told.
inline constexpr auto told_at_once = 400ms;

inline RedisServer& shared_server() {
  static RedisServer server;
  return server;
}

// When a wait ended, and how.
struct Turn {
  Result<Lease> lease;
  SteadyClock::time_point at;
};

// A client of ours and a stranger that share the lock "orders" on an empty server.
class InteropTest : public testing::Test {
 protected:
  explicit InteropTest(Peer with)
      : peer(std::move(with)),
        raw(emptied(shared_server())),
        stranger(peer, shared_server(), "orders"),
        client(open_client()) {}

  Client open_client() const { return open_client(peer.options); }
  static Client open_client(const std::string& options) {
    auto opened = open(shared_server().url() + options);
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  }
  Lockable lock_of(const Client& of, const std::string& name = "orders") const {
    if (peer.kind == Kind::reentrant) return of.reentrant(name);
    return of.mutex(name);
  }
  Lockable lock() const { return lock_of(client); }

  // Waits in a thread of its own. Returns when the store knows of it, or it is over already.
  std::future<Turn> start_waiting(const Client& of, AcquireOptions options = {.wait = 60s}) const {
    const auto before = waiters();
    auto turn = std::async(std::launch::async, [lock = lock_of(of), options]() mutable {
      auto lease = lock.acquire(options);
      return Turn{std::move(lease), SteadyClock::now()};
    });
    EXPECT_TRUE(eventually([&] { return waiters() == before + 1 || !is_waiting(turn); }));
    return turn;
  }
  std::future<Turn> start_waiting() const { return start_waiting(client); }
  std::size_t waiters() const {
    const auto seen = client.inspect("orders");
    return seen ? seen->waiters.size() : 0;
  }
  static bool is_waiting(const std::future<Turn>& turn) {
    return turn.wait_for(0s) == std::future_status::timeout;
  }

  // How often somebody asked the server, with a script of ours.
  long long questions() { return calls_of("evalsha"); }
  long long calls_of(const std::string& command) {
    const auto label = "cmdstat_" + command + ":calls=";
    const auto info = raw.text({"INFO", "commandstats"});
    const auto at = info.find(label);
    return at == std::string::npos ? 0 : std::stoll(info.substr(at + label.size()));
  }
  // How many commands the server got from others while it answered a thousand of ours.
  long long commands_meanwhile() {
    const auto count = [&] {
      constexpr std::string_view label = "total_commands_processed:";
      const auto info = raw.text({"INFO", "stats"});
      return std::stoll(info.substr(info.find(label) + label.size()));
    };
    constexpr int ours = 1000;
    const auto before = count();
    for (int i = 0; i < ours; ++i) raw.call({"PING"});
    return count() - before - ours - 1;
  }
  std::ptrdiff_t connections() { return std::ranges::count(raw.text({"CLIENT", "LIST"}), '\n'); }

  std::set<std::string> keys() {
    const auto reply = raw.call({"KEYS", "*"});
    std::set<std::string> all;
    for (std::size_t i = 0; i < reply->elements; ++i) {
      all.emplace(net::resp::text_of(*reply->element[i]));
    }
    return all;
  }

  const Peer peer;
  RawRedis raw;
  Stranger stranger;
  Client client;

 private:
  static RedisServer& emptied(RedisServer& server) {
    RawRedis(server).call({"FLUSHALL"});
    return server;
  }
};

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

// What a short wait comes to: it may be over before the first answer is here.
inline auto gave_up() { return testing::AnyOf("timed_out", "outcome_unknown"); }

constexpr auto by_peer = [](const auto& param) { return param.param.name; };

}  // namespace holdfast::test
