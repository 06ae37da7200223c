// SPDX-License-Identifier: Apache-2.0
//
// A connection over a bad line: whatever happens, no command is ever given another one's answer.
#include "net/resp/connection.hpp"
#include "support/fault_proxy.hpp"
#include "talk.hpp"

#include <fmt/format.h>

#include <random>
#include <vector>

namespace holdfast::test {
namespace {

using net::resp::command;
using Ending = FaultProxy::Ending;

struct FaultTest : testing::Test {
  Endpoint impatient() const {
    auto endpoint = endpoint_at(proxy.port());
    endpoint.command_timeout = 150ms;
    return endpoint;
  }
  RedisServer server;
  FaultProxy proxy{server.port()};
  std::shared_ptr<runtime::Runtime> runtime = runtime::shared_runtime();
};

TEST_F(FaultTest, replies_that_come_byte_by_byte_are_put_together) {
  proxy.byte_by_byte(true);
  Connection connection(runtime, endpoint_at(proxy.port()));
  std::vector<std::future<Result<std::string>>> asked;
  for (int i = 0; i < 50; ++i) {
    asked.push_back(begin_asking(connection, command("ECHO", fmt::format("number {}", i))));
  }
  for (int i = 0; i < 50; ++i) EXPECT_EQ(asked[i].get(), fmt::format("number {}", i));
}

TEST_F(FaultTest, half_a_reply_is_no_reply) {
  Connection connection(runtime, endpoint_at(proxy.port()));
  for (const Ending how : {Ending::close, Ending::reset}) {
    ASSERT_TRUE(wait_connected(connection));
    proxy.halve_next_reply(how);
    const auto reply = ask(connection, command("ECHO", "torn in two"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::outcome_unknown);
    ASSERT_TRUE(wait_connected(connection));
    EXPECT_EQ(ask(connection, command("ECHO", "mine")), "mine");
  }
}

TEST_F(FaultTest, a_swallowed_reply_ends_the_connection_and_not_only_the_command) {
  Connection connection(runtime, impatient());
  ASSERT_TRUE(wait_connected(connection));
  proxy.swallow_replies(true);
  auto lost = begin_asking(connection, command("ECHO", "lost"));
  EXPECT_EQ(lost.get().error().code, Errc::outcome_unknown);
  proxy.all_well();
  EXPECT_TRUE(eventually([&] { return ask(connection, command("ECHO", "mine")) == "mine"; }));
  EXPECT_GE(proxy.counts().connections, 2U);
}

TEST_F(FaultTest, a_late_reply_is_never_given_to_another_command) {
  Connection connection(runtime, impatient());
  ASSERT_TRUE(wait_connected(connection));
  proxy.delay_replies(300ms);
  EXPECT_FALSE(ask(connection, command("ECHO", "late")));
  proxy.all_well();
  const auto arrives = std::chrono::steady_clock::now() + 300ms;
  int answered = 0;
  EXPECT_TRUE(eventually([&] {
    const auto text = fmt::format("{}", answered);
    const auto reply = ask(connection, command("ECHO", text));
    EXPECT_EQ(reply.value_or(text), text);
    if (reply) ++answered;
    return answered > 50 && std::chrono::steady_clock::now() > arrives;
  }));
}

TEST_F(FaultTest, a_reply_that_nobody_asked_for_ends_the_connection) {
  // MONITOR is answered with more than one reply.
  Connection connection(runtime, endpoint_at(proxy.port()));
  ASSERT_EQ(ask(connection, command("MONITOR")), "OK");
  RawRedis(server).call({"PING"});
  EXPECT_TRUE(eventually([&] { return proxy.counts().connections == 2; }));
  EXPECT_TRUE(wait_connected(connection));
}

void add_random_fault(FaultProxy& proxy, std::mt19937_64& random) {
  const auto any = [&](int below) { return static_cast<int>(random() % below); };
  switch (any(8)) {
    case 0: return proxy.cut();
    case 1: return proxy.halve_next_reply(any(2) == 0 ? Ending::close : Ending::reset);
    case 2: return proxy.end_after(static_cast<std::size_t>(any(60)), Ending::reset);
    case 3: return proxy.delay_replies(std::chrono::milliseconds(any(30)));
    case 4: return proxy.delay_requests(std::chrono::milliseconds(any(30)));
    case 5: return proxy.swallow_replies(true);
    case 6: return proxy.byte_by_byte(any(2) == 0);
    default: return proxy.all_well();
  }
}

TEST_F(FaultTest, under_random_faults_every_answer_is_the_commands_own) {
  auto endpoint = endpoint_at(proxy.port());
  endpoint.command_timeout = 40ms;
  endpoint.connect_timeout = 200ms;
  Connection connection(runtime, endpoint);
  const auto seed = std::random_device{}();
  RecordProperty("seed", static_cast<int>(seed));
  std::atomic<int> answered = 0, failed = 0, wrong = 0;
  const auto talk = [&](const std::stop_token& is_over, int thread) {
    std::mt19937_64 random(seed + static_cast<unsigned>(thread));
    for (int i = 0; !is_over.stop_requested(); ++i) {
      const auto text = fmt::format("{}-{}-{}", thread, i, std::string(random() % 40, 'x'));
      const auto patience = std::chrono::milliseconds(1 + random() % 60);
      const auto reply = ask(connection, command("ECHO", text), patience);
      if (!reply) {
        ++failed;
        std::this_thread::sleep_for(1ms);
      } else {
        *reply == text ? ++answered : ++wrong;
      }
    }
  };
  std::vector<std::jthread> threads;
  for (int thread = 1; thread <= 4; ++thread) threads.emplace_back(talk, thread);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    // Between two storms the line recovers, or there would be no answers to be mistaken for others.
    proxy.all_well();
    const int before = answered;
    ASSERT_TRUE(eventually([&] { return answered > before + 5; })) << "seed " << seed;
    for (int fault = 0; fault < 6; ++fault) {
      add_random_fault(proxy, random);
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 8));
    }
  }
  threads.clear();
  EXPECT_EQ(wrong, 0) << "seed " << seed;
  EXPECT_GT(failed, 10);
  proxy.all_well();
  EXPECT_TRUE(wait_connected(connection));
}

}  // namespace
}  // namespace holdfast::test
