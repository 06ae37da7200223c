// SPDX-License-Identifier: Apache-2.0
//
// A lease that is lost under a command, on a real server.
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <csignal>
#include <fstream>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr const char* key = "hf:{x}";

class RunLoss : public Cli {
 protected:
  Program start(std::string script, std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "--store", server_.url()});
    options.insert(options.end(), {"x", "--", "sh", "-c", std::move(script)});
    return Program(words(std::move(options)), with({}));
  }
  Finished holdfast_there(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--store", server_.url()});
    return holdfast(std::move(arguments));
  }
  using WallMs = std::chrono::sys_time<std::chrono::milliseconds>;

  // No grant to another can come before this.
  WallMs lease_ends() {
    const auto before =
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    return before + std::chrono::milliseconds(RawRedis(server_).integer({"PTTL", key}));
  }
  // A command that notes when it is alive, for ever.
  std::string alive() const {
    return "while :; do date +%s%3N >> " + path("alive") + "; sleep 0.02; done";
  }
  WallMs last_alive() const {
    std::ifstream lines(path("alive"));
    long long last = 0;
    for (long long each = 0; lines >> each;) last = each;
    return WallMs(std::chrono::milliseconds(last));
  }
  // Ends by itself once it is told to.
  std::string until_told() const {
    return "while ! test -e " + path("go") + "; do sleep 0.02; done; ";
  }
  void tell() const { std::ofstream(path("go")) << "go"; }
  // On an idle machine there is none; on a busy one a signal may come late.
  static std::chrono::microseconds slack() { return at_most(50ms) - 50ms; }

  RedisServer server_;
};

TEST_F(RunLoss, to_a_paused_store_ends_the_command_before_the_lease) {
  auto run =
      start("trap 'echo term; exit 5' TERM; echo $$ ready; " + alive(), {"--ttl", stretched(3s)});
  ASSERT_TRUE(run.says("ready"));
  const pid_t command = std::stoi(run.out());
  const auto end = lease_ends();
  server_.stop();
  EXPECT_TRUE(eventually([&] { return !is_running(command); }));
  EXPECT_LT(last_alive(), end + slack());
  EXPECT_EQ(run.wait(), 77);
  EXPECT_TRUE(run.says("term"));
  EXPECT_TRUE(run.complains("lock lost"));
  server_.cont();
}

TEST_F(RunLoss, to_a_paused_store_ends_even_a_command_that_does_not_listen) {
  auto run = start("trap '' TERM; echo $$ ready; " + alive(), {"--ttl", stretched(3s)});
  ASSERT_TRUE(run.says("ready"));
  const pid_t command = std::stoi(run.out());
  const auto end = lease_ends();
  const auto stopped_at = steady_clock::now();
  server_.stop();
  EXPECT_TRUE(eventually([&] { return !is_running(command); }));
  EXPECT_LT(last_alive(), end + slack());
  EXPECT_GT(steady_clock::now() - stopped_at, 1s) << "the store had time to come back";
  EXPECT_EQ(run.wait(), 77);
  server_.cont();
}

TEST_F(RunLoss, is_none_if_the_store_comes_back_in_time) {
  const auto ttl = test::stretched(3s);
  auto run = start("echo ready; " + until_told() + "echo done", {"--ttl", option_of(ttl)});
  ASSERT_TRUE(run.says("ready"));
  const auto first_end = lease_ends();
  server_.stop();
  std::this_thread::sleep_for(ttl * 2 / 5);  // a renewal fails
  server_.cont();
  ASSERT_TRUE(eventually([&] { return lease_ends() > first_end + 200ms; })) << run.err();
  tell();
  EXPECT_EQ(run.wait(), 0);
  EXPECT_TRUE(run.says("done"));
  EXPECT_EQ(run.err(), "");
}

TEST_F(RunLoss, to_an_emptied_store_is_noticed_at_the_next_renewal) {
  auto run = start("trap 'echo term; exit 5' TERM; echo ready; while :; do sleep 0.02; done",
                   {"--ttl", stretched(3s)});
  ASSERT_TRUE(run.says("ready"));
  const auto emptied_at = steady_clock::now();
  RawRedis(server_).call({"FLUSHALL"});
  EXPECT_EQ(run.wait(), 77);
  EXPECT_LT(steady_clock::now() - emptied_at, at_most(2s)) << "a third of the ttl, and a little";
  EXPECT_TRUE(run.says("term"));
}

TEST_F(RunLoss, to_a_store_that_comes_back_empty_is_noticed_when_it_is_back) {
  auto run = start("trap 'echo term; exit 5' TERM; echo ready; while :; do sleep 0.02; done",
                   {"--ttl", "60s"});
  ASSERT_TRUE(run.says("ready"));
  server_.restart();
  const auto back_at = steady_clock::now();
  EXPECT_EQ(run.wait(), 77);
  EXPECT_LT(steady_clock::now() - back_at, at_most(5s))
      << "long before the next renewal, 20 s later";
}

TEST_F(RunLoss, by_force_ends_the_command) {
  auto run = start("echo ready; exec sleep 60", {"--ttl", stretched(1500ms)});
  ASSERT_TRUE(run.says("ready"));
  EXPECT_EQ(holdfast_there({"force-release", "x", "--yes", "--reason", "a test"}).code, 0);
  EXPECT_EQ(run.wait(), 77);
}

TEST_F(RunLoss, can_be_answered_with_sigkill_alone) {
  auto run = start("trap 'echo term' TERM; echo ready; while :; do sleep 0.02; done",
                   {"--ttl", stretched(1500ms), "--on-lost", "kill"});
  ASSERT_TRUE(run.says("ready"));
  RawRedis(server_).call({"FLUSHALL"});
  EXPECT_EQ(run.wait(), 77);
  EXPECT_EQ(run.out(), "ready\n");
}

TEST_F(RunLoss, can_be_ignored_but_not_silently) {
  auto run = start("trap 'echo term' TERM; echo ready; " + until_told() + "exit 3",
                   {"--ttl", stretched(1500ms), "--on-lost", "ignore"});
  ASSERT_TRUE(run.says("ready"));
  RawRedis(server_).call({"FLUSHALL"});
  EXPECT_TRUE(run.complains("lock lost"));
  tell();
  EXPECT_EQ(run.wait(), 3);
  EXPECT_EQ(run.out(), "ready\n");
}

TEST_F(RunLoss, that_only_the_release_finds_is_told_too) {
  auto run = start("echo ready; " + until_told() + "exit 0", {"--ttl", "1h"});
  ASSERT_TRUE(run.says("ready"));
  RawRedis(server_).call({"FLUSHALL"});
  tell();
  EXPECT_EQ(run.wait(), 77);
  EXPECT_THAT(run.err(), HasSubstr("lost before the command ended"));
}

TEST_F(RunLoss, by_a_limit_on_the_hold_ends_a_command_that_hangs) {
  const auto started_at = steady_clock::now();
  auto run =
      start("echo ready; exec sleep 60", {"--ttl", stretched(1s), "--max-hold", stretched(2s)});
  EXPECT_EQ(run.wait(), 77);
  EXPECT_LT(steady_clock::now() - started_at, at_most(4s));
}

// The guard once killed commands whose lease was renewed in time, because it had not been told.
TEST_F(RunLoss, is_none_however_late_the_ladder_would_start) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--on-lost", "kill"}, {"--kill-after", "0s"}}) {
    const auto ttl = test::stretched(1200ms);
    auto with_ttl = options;
    with_ttl.insert(with_ttl.end(), {"--ttl", option_of(ttl)});
    const auto seconds = 2.2 * std::chrono::duration<double>(ttl).count();
    auto run = start(fmt::format("sleep {:.2f}; echo done", seconds), with_ttl);
    EXPECT_EQ(run.wait(), 0) << run.err();
    EXPECT_EQ(run.out(), "done\n");
  }
}

// Ctrl-S on the terminal, or a reader that does not read, once held up the ladder.
TEST_F(RunLoss, ends_the_command_although_nobody_reads_what_is_said) {
  auto run = start(
      "echo ready; trap 'echo term; exit 5' TERM; yes >&2 & exec 2> /dev/null; while :; do sleep "
      "0.02; done",
      {"--ttl", stretched(1500ms), "--json"});
  ASSERT_TRUE(run.says("ready"));
  ASSERT_TRUE(eventually([&] { return run.unread_err() >= 65'536; })) << "the pipe is not full";
  RawRedis(server_).call({"FLUSHALL"});
  EXPECT_TRUE(eventually([&] { return run.out_only().find("term") != std::string::npos; }));
}

TEST_F(RunLoss, ends_the_command_in_order_although_the_reader_is_gone) {
  const std::string line = std::string(HOLDFAST_BINARY) + " run --store " + server_.url() +
                           " --ttl " + stretched(1500ms) +
                           " x -- sh -c 'exec 2> /dev/null; trap \"echo term > " + path("told") +
                           "; exit 5\" TERM; echo ready > " + path("told") +
                           "; while :; do sleep 0.02; done' 2>&1 | true; echo ${PIPESTATUS[0]}";
  Program piped({"bash", "-c", line}, with({}));
  const auto told = [&] { return test::run({"cat", path("told")}).out; };
  ASSERT_TRUE(eventually([&] { return told() == "ready\n"; }));
  RawRedis(server_).call({"FLUSHALL"});
  piped.wait();
  EXPECT_EQ(told(), "term\n");
  EXPECT_EQ(piped.out(), "77\n");
}

TEST_F(RunLoss, is_noticed_although_the_guard_was_killed) {
  auto run = start("trap 'echo term; exit 5' TERM; echo ready; while :; do sleep 0.02; done",
                   {"--ttl", stretched(1500ms)});
  ASSERT_TRUE(run.says("ready"));
  const auto guards = [&] {
    std::vector<pid_t> found;
    const std::string parent = std::to_string(run.pid());
    std::ifstream children("/proc/" + parent + "/task/" + parent + "/children");
    for (pid_t pid = 0; children >> pid;) {
      std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
      std::string name;
      comm >> name;
      if (name == "holdfast-guard") found.push_back(pid);
    }
    return found;
  };
  // It may still be on its way to its name when the command is ready.
  std::vector<pid_t> before;
  ASSERT_TRUE(eventually([&] {
    before = guards();
    return before.size() == 1;
  }));
  kill(before[0], SIGKILL);
  EXPECT_TRUE(eventually([&] { return guards().size() == 1 && guards() != before; }));
  RawRedis(server_).call({"FLUSHALL"});
  EXPECT_EQ(run.wait(), 77);
  EXPECT_TRUE(run.says("term"));
}

TEST_F(RunLoss, kills_what_the_command_left_behind) {
  auto run = start("trap 'exit 0' TERM; sh -c 'trap \"\" TERM; echo $$; exec sleep 64' & wait",
                   {"--ttl", stretched(1500ms)});
  ASSERT_TRUE(run.says("\n"));
  const pid_t left = std::stoi(run.out());
  RawRedis(server_).call({"FLUSHALL"});
  EXPECT_EQ(run.wait(), 77);
  EXPECT_TRUE(eventually([&] { return !is_running(left); }));
}

TEST_F(RunLoss, of_an_unreachable_store_is_said_before_anything_starts) {
  server_.kill();
  const auto refused = holdfast_there({"run", "x", "--", "echo", "no"});
  EXPECT_EQ(refused.code, 69);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("127.0.0.1:" + std::to_string(server_.port())));
}

}  // namespace
}  // namespace holdfast::test
