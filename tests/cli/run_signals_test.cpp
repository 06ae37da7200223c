// SPDX-License-Identifier: Apache-2.0
//
// Signals to holdfast, and what becomes of the command when holdfast itself is killed or stopped.
#include "cli/holdfast_program.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

class RunSignals : public Cli {
 protected:
  Program start(std::string script, std::vector<std::string> options = {"x"}) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--", "sh", "-c", std::move(script)});
    return Program(words(std::move(options)), with({}));
  }
  // The process ids that a command printed, one per line.
  static std::vector<pid_t> pids(Program& program, std::size_t count) {
    EXPECT_TRUE(eventually([&] {
      return static_cast<std::size_t>(std::ranges::count(program.out(), '\n')) >= count;
    })) << program.out()
        << program.err();
    std::istringstream lines(program.out());
    std::vector<pid_t> found;
    for (pid_t pid = 0; lines >> pid;) found.push_back(pid);
    return found;
  }
  // Guards of commands that were started here.
  std::size_t guards() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::string name;
      std::ifstream(entry.path() / "comm") >> name;
      std::ifstream file(entry.path() / "environ");
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      if (name == "holdfast-guard" && text.contains("HOLDFAST_STORE=" + store())) ++count;
    }
    return count;
  }
  bool is_free() { return holdfast({"run", "-n", "x", "--", "true"}).code == 0; }
};

TEST_F(RunSignals, are_passed_on_to_the_command) {
  for (const std::string name : {"HUP", "INT", "QUIT", "TERM", "USR1", "USR2"}) {
    auto run = start("trap 'echo got " + name + "; exit 7' " + name +
                     "; echo ready; while :; do sleep 0.02; done");
    ASSERT_TRUE(run.says("ready"));
    const std::vector<std::string> names{"HUP", "INT", "QUIT", "TERM", "USR1", "USR2"};
    const std::vector<int> numbers{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    run.signal(numbers[std::ranges::find(names, name) - names.begin()]);
    EXPECT_EQ(run.wait(), 7) << name;
    EXPECT_TRUE(run.says("got " + name));
  }
  EXPECT_TRUE(is_free());
}

TEST_F(RunSignals, that_kill_the_command_are_its_exit_code) {
  auto run = start("echo ready; exec sleep 60");
  ASSERT_TRUE(run.says("ready"));
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), 128 + SIGTERM);
  EXPECT_TRUE(is_free());
}

TEST_F(RunSignals, that_were_ignored_stay_ignored) {
  const auto script = std::string("trap '' HUP; exec ") + HOLDFAST_BINARY +
                      " run x -- sh -c 'echo ready; kill -HUP $$; sleep 0.2; echo alive'";
  EXPECT_EQ(test::run({"sh", "-c", script}, with({})).out, "ready\nalive\n");
}

TEST_F(RunSignals, that_were_ignored_do_not_end_a_wait) {
  auto holder = start("echo held; exec sleep 60");
  ASSERT_TRUE(holder.says("held"));
  Program waiter(
      {"sh", "-c", std::string("trap '' HUP INT; exec ") + HOLDFAST_BINARY + " run x -- echo mine"},
      with({}));
  ASSERT_TRUE(is_waited_for("x"));
  waiter.signal(SIGHUP);
  waiter.signal(SIGINT);
  holder.signal(SIGTERM);
  EXPECT_EQ(waiter.wait(), 0);
  EXPECT_EQ(waiter.out(), "mine\n");
}

TEST_F(RunSignals, of_children_may_be_ignored_by_whoever_starts_us) {
  Program run({"sh", "-c",
               std::string("trap '' CHLD; exec ") + HOLDFAST_BINARY + " run x -- sh -c 'exit 3'"},
              with({}));
  EXPECT_EQ(run.wait(), 3);
}

// The guard once went by a deadline from before the last renewal.
TEST_F(RunSignals, that_stop_holdfast_for_a_moment_cost_nothing) {
  const auto ttl = test::stretched(3s);
  auto run = start("echo ready; while ! test -e " + path("go") + "; do sleep 0.02; done; echo done",
                   {"--ttl", option_of(ttl), "x"});
  ASSERT_TRUE(run.says("ready"));
  // It is renewed at each third, and stopped for longer than what it had at first.
  ASSERT_TRUE(is_held_for("x", ttl * 7 / 10));
  run.signal(SIGSTOP);
  ASSERT_TRUE(is_held_for("x", ttl * 11 / 10));
  run.signal(SIGCONT);
  std::ofstream(path("go")) << "go";
  EXPECT_EQ(run.wait(), 0) << run.err();
  EXPECT_TRUE(run.says("done"));
}

TEST_F(RunSignals, leave_the_command_its_own_mask) {
  const auto run = holdfast({"run", "x", "--", "grep", "SigBlk", "/proc/self/status"});
  EXPECT_EQ(run.out, "SigBlk:\t0000000000000000\n");
}

TEST_F(RunSignals, end_a_wait_and_leave_the_queue) {
  auto holder = start("echo held; exec sleep 60");
  ASSERT_TRUE(holder.says("held"));
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    auto waiter = start("echo never");
    ASSERT_TRUE(is_waited_for("x"));
    waiter.signal(signal);
    EXPECT_EQ(waiter.wait(), 1000 + signal);
    EXPECT_EQ(waiter.out(), "");
    EXPECT_EQ(number_in_status("x", "waiting_ms"), -1);
  }
}

TEST_F(RunSignals, that_kill_holdfast_kill_the_command_with_all_its_children) {
  auto run = start("sleep 61 & echo $!; echo $$; wait", {"--ttl", stretched(1s), "x"});
  const auto all = pids(run, 2);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(is_running(all[0]) && is_running(all[1]));
  const auto killed_at = steady_clock::now();
  run.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_running(all[0]) && !is_running(all[1]); }));
  EXPECT_FALSE(is_free()) << "the lock is held until its ttl ends";
  EXPECT_TRUE(eventually([&] { return is_free(); }));
  EXPECT_LT(steady_clock::now() - killed_at, at_most(3s));
}

TEST_F(RunSignals, that_kill_holdfast_spare_a_child_that_is_to_be_kept) {
  auto run = start("echo $$; exec sleep 62", {"--keep-child", "x"});
  const auto all = pids(run, 1);
  ASSERT_EQ(all.size(), 1U);
  run.signal(SIGKILL);
  run.wait();
  EXPECT_TRUE(eventually([&] { return guards() == 0; }));
  EXPECT_TRUE(is_running(all[0]));
  kill(all[0], SIGKILL);
}

TEST_F(RunSignals, that_stop_holdfast_do_not_let_the_command_outlive_its_lease) {
  auto run = start("echo $$; exec sleep 63", {"--ttl", stretched(1s), "x"});
  const auto all = pids(run, 1);
  ASSERT_EQ(all.size(), 1U);
  const auto stopped_at = steady_clock::now();
  run.signal(SIGSTOP);
  // Whoever waits gets the lock when the lease has ended by the store's clock, not before. Nobody
  // reaps the command while its parent is stopped.
  const auto status = "/proc/" + std::to_string(all[0]) + "/status";
  Program next(words({"run", "x", "--", "grep", "-q", "^State:.Z", status}), with({}));
  EXPECT_TRUE(eventually([&] { return !is_running(all[0]); }));
  EXPECT_LT(steady_clock::now() - stopped_at, at_most(1100ms));
  EXPECT_EQ(next.wait(), 0) << "the command must be dead before the next one starts";
  run.signal(SIGCONT);
  EXPECT_EQ(run.wait(), 77);
}

TEST_F(RunSignals, leave_no_process_behind) {
  auto run = start("echo $$", {"x"});
  EXPECT_EQ(run.wait(), 0);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "environ");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(text.find("HOLDFAST_STORE=" + store()), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace holdfast::test
