// SPDX-License-Identifier: Apache-2.0
//
// holdfast as a job of an interactive shell on a terminal. Commands that start others are bash,
// since Debian's sh hangs in vfork, with or without holdfast, if Ctrl-Z comes at that moment.
#include "cli/holdfast_program.hpp"

#include <gmock/gmock.h>

#include <csignal>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class JobControl : public Cli {
 protected:
  void SetUp() override {
    shell_.emplace(
        std::vector<std::string>{"bash", "--norc", "--noprofile", "-i"},
        with({.environment = {"TERM=dumb", "PS1=<$?> ", "HF=" HOLDFAST_BINARY}, .terminal = true}));
    ASSERT_TRUE(shell_->says("<0> "));
  }

  // Types a line, and waits until the prompt says how it ended. What is searched for must not stand
  // in the line itself, which the terminal shows.
  void type(const std::string& keys) { shell_->type(keys); }
  bool shows(const std::string& text) {
    const auto from = seen_;
    const bool found = eventually([&] {
      const auto at = shell_->out().find(text, from);
      if (at == std::string::npos) return false;
      seen_ = at + text.size();
      return true;
    });
    EXPECT_TRUE(found) << "waited for: " << text << "\n" << shell_->out();
    return found;
  }
  bool is_free(const std::string& name = "x") {
    return holdfast({"run", "-n", name, "--", "true"}).code == 0;
  }

  std::optional<Program> shell_;
  std::size_t seen_ = 0;
};

TEST_F(JobControl, ends_the_command_with_ctrl_c) {
  type("$HF run x -- bash -c 'echo re''ady; sleep 60'\n");
  ASSERT_TRUE(shows("ready"));
  type("\x03");
  EXPECT_TRUE(shows("<130> "));
  EXPECT_TRUE(is_free());
}

TEST_F(JobControl, leaves_a_loop_of_the_shell_with_ctrl_c) {
  type("for i in 1 2 3; do $HF run x -- bash -c 'echo re''ady; sleep 60'; done\n");
  ASSERT_TRUE(shows("ready"));
  type("\x03");
  EXPECT_TRUE(shows("<130> "));
  EXPECT_EQ(shell_->out().find("ready", seen_), std::string::npos);
}

TEST_F(JobControl, lets_the_command_handle_ctrl_c_itself) {
  type("$HF run x -- bash -c 'trap \"echo caught; exit 4\" INT; echo re''ady; sleep 60'\n");
  ASSERT_TRUE(shows("ready"));
  type("\x03");
  EXPECT_TRUE(shows("caught"));
  EXPECT_TRUE(shows("<4> "));
}

TEST_F(JobControl, stops_with_ctrl_z_and_goes_on_with_fg) {
  type("$HF run --ttl 1m x -- sh -c 'echo re''ady; read line; echo \"g''ot $line\"'\n");
  ASSERT_TRUE(shows("ready"));
  type("\x1a");
  ASSERT_TRUE(shows("Stopped"));
  ASSERT_TRUE(shows("<148> "));
  EXPECT_FALSE(is_free()) << "a stopped job keeps its lease while it lasts";
  type("echo the shell ha''s it\n");
  ASSERT_TRUE(shows("the shell has it"));
  type("fg\n");
  type("a line\n");
  EXPECT_TRUE(shows("got a line"));
  EXPECT_TRUE(shows("<0> "));
  EXPECT_TRUE(is_free());
}

TEST_F(JobControl, goes_on_in_the_background_with_bg) {
  type("$HF run x -- bash -c 'echo re''ady; sleep 1; echo fin''ished'\n");
  ASSERT_TRUE(shows("ready"));
  type("\x1a");
  ASSERT_TRUE(shows("<148> "));
  type("bg\n");
  EXPECT_TRUE(shows("finished"));
  type("wait; echo ca''lm\n");
  EXPECT_TRUE(shows("calm"));
  EXPECT_TRUE(is_free());
}

TEST_F(JobControl, ends_a_command_whose_lease_ran_out_while_it_was_stopped) {
  type("$HF run --ttl " + stretched(1s) +
       " x -- sh -c 'echo re''ady; read line; echo \"g''ot $line\"'\n");
  ASSERT_TRUE(shows("ready"));
  type("\x1a");
  ASSERT_TRUE(shows("<148> "));
  EXPECT_TRUE(eventually([&] { return is_free(); }));
  type("fg\n");
  EXPECT_TRUE(shows("lock lost"));
  EXPECT_TRUE(shows("<77> "));
  EXPECT_THAT(shell_->out(), Not(HasSubstr("got ")));
}

TEST_F(JobControl, keeps_a_stopped_job_as_long_as_its_lease_lasts) {
  const auto ttl = test::stretched(3s);
  type("$HF run --ttl " + option_of(ttl) +
       " x -- sh -c 'echo re''ady; read line; echo \"g''ot $line\"'\n");
  ASSERT_TRUE(shows("ready"));
  // It is renewed at each third, and stopped for longer than what it had at first.
  ASSERT_TRUE(is_held_for("x", ttl * 7 / 10));
  type("\x1a");
  ASSERT_TRUE(shows("<148> "));
  ASSERT_TRUE(is_held_for("x", ttl * 11 / 10));
  type("fg\n");
  type("more\n");
  EXPECT_TRUE(shows("got more"));
}

TEST_F(JobControl, of_an_orphan_that_wants_the_terminal_does_not_spin) {
  type("($HF run x -- cat < /dev/tty &)\n");
  ASSERT_TRUE(shows("<0> "));
  ASSERT_TRUE(eventually([&] { return !is_free(); }));
  const auto status = holdfast({"status", "x", "--json"}).out;
  const pid_t pid = std::stoi(status.substr(status.find("\"pid\":") + 6));
  const auto before = cpu_time_of(pid);
  std::this_thread::sleep_for(700ms);  // what it costs is measured
  EXPECT_LE(cpu_time_of(pid) - before, 150ms);
  kill(pid, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_running(pid); }));
}

TEST_F(JobControl, of_a_background_job_that_reads_the_terminal_stops_it_until_fg) {
  type("$HF run --ttl 1m x -- sh -c 'read line; echo \"g''ot $line\"' &\n");
  ASSERT_TRUE(shows("<0> "));
  ASSERT_TRUE(eventually([&] { return !is_free(); }));
  type("until jobs | grep -q Sto''pped; do sleep 0.05; done; jobs\n");
  ASSERT_TRUE(shows("Stopped"));
  type("fg\n");
  type("hello\n");
  EXPECT_TRUE(shows("got hello"));
  EXPECT_TRUE(shows("<0> "));
}

TEST_F(JobControl, leaves_the_terminal_to_the_rest_of_a_pipeline) {
  // The second one needs the terminal at once, the first one only if it asks.
  type(
      "$HF run x -- sh -c 'echo one; echo two' | (read line < /dev/tty; cat; echo \"had "
      "$line\")\n");
  type("word\n");
  EXPECT_TRUE(shows("one"));
  EXPECT_TRUE(shows("had word"));
}

TEST_F(JobControl, gives_the_terminal_to_a_command_that_asks_for_it_later) {
  type("$HF run x -- sh -c 'read line < /dev/tty; echo \"g''ot $line\"' | cat\n");
  type("late\n");
  EXPECT_TRUE(shows("got late"));
  EXPECT_TRUE(shows("<0> "));
}

TEST_F(JobControl, restores_a_terminal_that_a_killed_command_left_raw) {
  type("$HF run x -- bash -c 'stty raw -echo; echo re''ady; kill -KILL $$'\n");
  ASSERT_TRUE(shows("ready"));
  ASSERT_TRUE(shows("<137> "));
  type("stty -a | tr ' ;' '\\n\\n' | grep -x -- '-*icanon'\n");
  EXPECT_TRUE(shows("\nicanon"));
}

TEST_F(JobControl, shows_who_is_waited_for_and_wipes_it) {
  Program holder(words({"run", "--note", "nightly", "x", "--", "cat"}),
                 with({.keep_input_open = true}));
  ASSERT_TRUE(eventually([&] { return !is_free(); }));
  type("$HF run x -- echo mi''ne\n");
  ASSERT_TRUE(shows("waiting for 'x' (1 of 1 in line): held by holdfast on "));
  ASSERT_TRUE(shows("nightly"));
  holder.end_input();
  EXPECT_TRUE(shows("\r\x1b[Kmine"));
}

TEST_F(JobControl, ends_a_wait_with_ctrl_c) {
  Program holder(words({"run", "x", "--", "cat"}), with({.keep_input_open = true}));
  ASSERT_TRUE(eventually([&] { return !is_free(); }));
  type("$HF run x -- echo never\n");
  ASSERT_TRUE(shows("waiting for"));
  type("\x03");
  EXPECT_TRUE(shows("<130> "));
}

TEST_F(JobControl, stops_a_wait_with_ctrl_z) {
  Program holder(words({"run", "x", "--", "cat"}), with({.keep_input_open = true}));
  ASSERT_TRUE(eventually([&] { return !is_free(); }));
  type("$HF run x -- echo mi''ne\n");
  ASSERT_TRUE(shows("waiting for"));
  type("\x1a");
  ASSERT_TRUE(shows("<148> "));
  holder.end_input();
  type("fg\n");
  EXPECT_TRUE(shows("mine"));
}

}  // namespace
}  // namespace holdfast::test
