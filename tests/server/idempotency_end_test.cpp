// SPDX-License-Identifier: Apache-2.0
//
// An operation under an Idempotency-Key whose client leaves, or whose server ends, in the middle.
#include "idempotency_key_fixture.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>
#include <latch>
#include <memory>
#include <thread>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using test::RawPeer;
using IdempotencyEnd = IdempotencyKeyTest;

TEST_F(IdempotencyEnd, a_client_that_leaves_finds_the_answer_when_it_comes_back) {
  std::latch asked(1);
  std::latch go(1);
  start_with([&](RawPeer& peer, int) {
    asked.count_down();
    go.wait();
    peer.say(charged);
  });
  {
    HttpConnection client(address);
    client.send(test::request_text(with_key("k1"), address));
    asked.wait();
  }
  EXPECT_EQ(run().code(), "in_progress");
  go.count_down();
  auto what = with_key("k1");
  what.headers["Prefer"] = "wait=20";
  const auto answer = call(what);
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(answer.header("idempotency-replayed"), "true");
  EXPECT_EQ(calls, 1);
}

TEST_F(IdempotencyEnd, a_run_that_outlasts_its_guard_is_renewed) {
  const auto guard = test::stretched(1500ms);
  options.idempotency.guard = guard;
  std::latch asked(1);
  std::latch go(1);
  start_with([&](RawPeer& peer, int) {
    asked.count_down();
    go.wait();
    peer.say(charged);
  });
  auto running = std::async(std::launch::async, [&] { return run(); });
  asked.wait();
  std::this_thread::sleep_for(guard + 100ms);
  EXPECT_EQ(run().code(), "in_progress");
  go.count_down();
  EXPECT_EQ(running.get().status, 201);
  EXPECT_EQ(run().header("idempotency-replayed"), "true");
  EXPECT_EQ(calls, 1);
}

TEST_F(IdempotencyEnd, a_server_that_ends_leaves_a_run_that_says_it_is_unknown) {
  options.drain = 200ms;
  const auto store = fmt::format("memory:once-drain-{}", getpid());
  std::latch asked(1);
  const auto end = std::make_shared<std::latch>(1);  // the peer may look at it to the last
  start_with(
      [&, end](RawPeer& peer, int nth) {
        if (nth == 1) {
          asked.count_down();
          end->wait();
        }
        peer.say(charged);
      },
      store);
  auto running = std::async(std::launch::async, [&] { return run(); });
  asked.wait();
  server->stop();
  EXPECT_GE(running.get().status, 0);
  server.reset();
  end->count_down();
  start(store);
  EXPECT_EQ(run().code(), "unknown");
  EXPECT_EQ(calls, 1);
}

TEST_F(IdempotencyEnd, a_server_that_is_killed_in_the_middle_charges_once_and_says_unknown) {
  const test::TemporaryFolder folder;
  const auto config = (folder.path() / "config.yml").string();
  std::latch asked(1);
  const auto end = std::make_shared<std::latch>(1);  // the peer may look at it to the last
  start_with([&, end](RawPeer& peer, int nth) {
    if (nth == 1) {
      asked.count_down();
      end->wait();
    }
    peer.say(charged);
  });
  std::ofstream(config) << "store: file:" << (folder.path() / "locks").string() << "\n"
                        << "server:\n  idempotency: {guard: 500ms}\n  patterns: {upstreams: "
                        << "{billing: \"" << options.patterns.upstreams["billing"] << "\"}}\n";
  ServedProgram first({"--config", config});
  ASSERT_FALSE(first.address().empty()) << first.program().err();
  HttpConnection client(first.address());
  client.send(test::request_text(with_key("k1"), first.address()));
  asked.wait();
  first.program().signal(SIGKILL);
  first.program().wait();
  end->count_down();
  ServedProgram second({"--config", config});
  ASSERT_FALSE(second.address().empty()) << second.program().err();
  // Until the guard is over it may still be under way.
  std::string code;
  EXPECT_TRUE(test::eventually([&] {
    code = call_at(second.address(), with_key("k1")).code();
    return code != "in_progress";
  }));
  EXPECT_EQ(code, "unknown");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace holdfast::server
