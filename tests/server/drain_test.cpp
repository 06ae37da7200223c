// SPDX-License-Identifier: Apache-2.0
//
// SIGTERM while everybody is at work: what was acknowledged is true afterwards.
#include "server_fixture.hpp"

#include <csignal>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

class DrainTest : public ServerTest {
 protected:
  std::string store() const { return "file:" + (folder_.path() / "locks").string(); }
  static std::int64_t waiters_at(const std::string& where) {
    return call_at(where, {.path = "/v1/stats"}).number("waiters");
  }

 private:
  test::TemporaryFolder folder_;
};

// What a client was told, by name.
struct ReleasesTold {
  std::mutex mutex;
  std::set<std::string> released;  // guarded by mutex
  std::set<std::string> held;      // guarded by mutex
};

void take_and_release(const std::string& address, int who, ReleasesTold& told) {
  HttpConnection connection(address);
  for (int i = 0;; ++i) {
    const auto name = fmt::format("t{}-{}", who, i);
    const auto ask = [&](const std::string& verb, const std::string& body) {
      connection.send(test::request_text(
          {.method = "POST", .path = "/v1/locks/" + name + "/" + verb, .body = body}, address));
      return connection.receive();
    };
    const auto taken = ask("acquire", R"({"ttl":"1h"})");
    if (taken.status != 200) return;
    {
      const std::lock_guard lock(told.mutex);
      told.held.insert(name);
    }
    const auto released = ask("release", R"({"owner":")" + taken.text("owner") + "\"}");
    const std::lock_guard lock(told.mutex);
    told.held.erase(name);
    if (released.status != 200) return;
    told.released.insert(name);
  }
}

TEST_F(DrainTest, what_was_released_before_a_sigterm_is_released_and_waits_end_with_503) {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  ServedProgram served({"--store", store(), "--drain", "10s", "--threads", "2"});
  ASSERT_FALSE(served.address().empty()) << served.program().err();
  ASSERT_EQ(call_at(served.address(),
                    {.method = "POST", .path = "/v1/locks/held/acquire", .body = R"({"ttl":"1h"})"})
                .status,
            200);
  ReleasesTold told;
  std::vector<HttpAnswer> waited(4);
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([&, i] { take_and_release(served.address(), i, told); });
    }
    for (auto& answer : waited) {
      clients.emplace_back([&] {
        answer = call_at(
            served.address(),
            {.method = "POST", .path = "/v1/locks/held/acquire", .body = R"({"wait":"1h"})"});
      });
    }
    EXPECT_TRUE(test::eventually([&] {
      if (waiters_at(served.address()) < 4) return false;
      const std::lock_guard lock(told.mutex);
      return told.released.size() > 8;
    }));
    // At any moment of their work.
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 500));
    const auto began = std::chrono::steady_clock::now();
    served.program().signal(SIGTERM);
    EXPECT_EQ(served.program().wait(15s), 0) << served.program().err();
    EXPECT_LT(std::chrono::steady_clock::now() - began, test::at_most(11s));
  }
  for (const auto& answer : waited) {
    EXPECT_EQ(answer.status, 503) << answer.body;
    EXPECT_EQ(answer.code(), "unavailable");
  }
  EXPECT_GT(told.released.size(), 8U);
  start(store());
  for (const auto& name : told.released) ASSERT_EQ(get("/v1/locks/" + name).status, 404) << name;
  EXPECT_EQ(get("/v1/locks/held").status, 200);
  std::printf("%zu releases\n", told.released.size());
}

TEST_F(DrainTest, a_request_that_is_half_sent_does_not_hold_up_the_end_for_ever) {
  options.drain = 500ms;
  options.limits.header_timeout = 60s;
  start();
  HttpConnection half(address);
  half.send("GET /v1/lo");
  HttpConnection idle(address);
  ASSERT_EQ(get("/v1/locks").status, 200);
  const auto began = std::chrono::steady_clock::now();
  server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, test::at_most(3s));
  EXPECT_TRUE(half.is_closed_within(1s));
  EXPECT_TRUE(idle.is_closed_within(1s));
}

TEST_F(DrainTest, streams_and_waits_end_at_once) {
  options.drain = 1min;
  start();
  ASSERT_EQ(post("/v1/locks/a/acquire").status, 200);
  HttpConnection stream(address);
  stream.send("GET /v1/events HTTP/1.1\r\nHost: " + address + "\r\n\r\n");
  HttpConnection waiter(address);
  waiter.send(test::request_text(
      {.method = "POST", .path = "/v1/locks/a/acquire", .body = R"({"wait":"1h"})"}, address));
  ASSERT_TRUE(test::eventually([&] {
    const auto stats = get("/v1/stats");
    return stats.number("waiters") == 1 && stats.number("event_streams") == 1;
  }));
  const auto began = std::chrono::steady_clock::now();
  server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, test::at_most(3s));
  const auto answer = waiter.receive();
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_EQ(answer.header("connection"), "close");
  EXPECT_TRUE(stream.is_closed_within(1s));
}

}  // namespace
}  // namespace holdfast::server
