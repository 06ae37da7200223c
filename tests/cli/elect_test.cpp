// SPDX-License-Identifier: Apache-2.0
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <gmock/gmock.h>

#include <csignal>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Elect : public Cli {
 protected:
  Program candidate(std::vector<std::string> options, std::string script) {
    options.insert(options.begin(), "elect");
    options.insert(options.end(), {"boss", "--", "sh", "-c", std::move(script)});
    return Program(words(std::move(options)), with({}));
  }
};

TEST_F(Elect, runs_the_command_of_one_candidate_at_a_time) {
  auto first = candidate({"--value", "one"}, "echo leads; exec sleep 60");
  ASSERT_TRUE(first.says("leads"));
  auto second = candidate({"--value", "two"}, "echo leads; exec sleep 60");
  ASSERT_TRUE(is_waited_for("boss"));
  EXPECT_THAT(holdfast({"status", "boss", "--json"}).out, HasSubstr("\"value\":\"one\""));
  EXPECT_EQ(second.out(), "");
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), 128 + SIGTERM);
  EXPECT_TRUE(second.says("leads"));
  EXPECT_THAT(holdfast({"status", "boss", "--json"}).out, HasSubstr("\"value\":\"two\""));
}

TEST_F(Elect, resigns_when_the_command_ends_by_itself) {
  auto first = candidate({}, "exit 6");
  EXPECT_EQ(first.wait(), 6);
  EXPECT_THAT(holdfast({"status", "boss", "--json"}).out, HasSubstr("\"holders\":[]"));
}

TEST_F(Elect, runs_the_command_again_when_leadership_returns) {
  RedisServer server;
  auto leader = candidate({"--ttl", stretched(1500ms), "--store", server.url()},
                          "echo leads $HOLDFAST_FENCE; exec sleep 60");
  ASSERT_TRUE(leader.says("\n"));
  RawRedis(server).call({"FLUSHALL"});
  EXPECT_TRUE(eventually([&] { return std::ranges::count(leader.out(), '\n') == 2; }));
  EXPECT_THAT(leader.err(), HasSubstr("leadership lost"));
  std::istringstream lines(leader.out());
  std::string word;
  long long before = 0;
  long long after = 0;
  lines >> word >> before >> word >> after;
  EXPECT_GT(after, before);
}

TEST_F(Elect, outlives_a_store_that_is_away_for_a_while) {
  RedisServer server;
  auto leader =
      candidate({"--ttl", stretched(1s), "--store", server.url()}, "echo leads; exec sleep 60");
  ASSERT_TRUE(leader.says("leads\n"));
  server.kill();
  ASSERT_TRUE(leader.complains("leadership lost"));
  EXPECT_FALSE(leader.ended());
  server.restart();
  EXPECT_TRUE(leader.says("leads\nleads\n", 20s));
}

TEST_F(Elect, ends_by_a_signal_while_it_waits) {
  auto first = candidate({}, "echo leads; exec sleep 60");
  ASSERT_TRUE(first.says("leads"));
  auto second = candidate({}, "echo leads");
  ASSERT_TRUE(is_waited_for("boss"));
  second.signal(SIGINT);
  EXPECT_EQ(second.wait(), 1000 + SIGINT);
}

// systemd once waited in vain for a candidate that was told to end while it was losing.
TEST_F(Elect, ends_when_told_to_while_it_loses) {
  RedisServer server;
  auto leader = candidate({"--ttl", "3s", "--kill-after", "1s", "--store", server.url()},
                          "trap '' TERM; echo leads; while :; do sleep 0.02; done");
  ASSERT_TRUE(leader.says("leads"));
  server.stop();
  ASSERT_TRUE(leader.complains("leadership lost"));
  leader.signal(SIGTERM);
  server.cont();
  EXPECT_EQ(leader.wait(), 1000 + SIGTERM);
}

TEST_F(Elect, below_itself_says_deadlock) {
  auto leader = candidate({}, std::string(HOLDFAST_BINARY) + " elect boss -- echo inside");
  EXPECT_EQ(leader.wait(), 84);
}

TEST_F(Elect, refuses_what_it_cannot_mean) {
  EXPECT_EQ(holdfast({"elect", "--", "true"}).code, 64);
  EXPECT_EQ(holdfast({"elect", "boss"}).code, 64);
  EXPECT_EQ(holdfast({"elect", "boss", "--on-lost", "ignore", "--", "true"}).code, 64);
  EXPECT_EQ(holdfast({"elect", "boss", "--", "no-such-program"}).code, 127);
}

}  // namespace
}  // namespace holdfast::test
