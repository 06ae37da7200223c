// SPDX-License-Identifier: Apache-2.0
#include "cli/holdfast_program.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class Run : public Cli {
 protected:
  // Holds the lock until it goes away.
  Program holder(std::vector<std::string> options) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--", "sh", "-c", "echo held; exec sleep 60"});
    return Program(words(std::move(options)), with({}));
  }
  Finished shell(std::string script, std::vector<std::string> options = {"x"}) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--", "sh", "-c", std::move(script)});
    return holdfast(std::move(options));
  }
};

TEST_F(Run, exits_with_the_status_of_its_command) {
  EXPECT_EQ(shell("exit 0").code, 0);
  EXPECT_EQ(shell("exit 3").code, 3);
  EXPECT_EQ(shell("exit 255").code, 255);
  EXPECT_EQ(shell("kill -TERM $$").code, 128 + 15);
  EXPECT_EQ(shell("kill -KILL $$").code, 128 + 9);
}

TEST_F(Run, writes_nothing_of_its_own) {
  const auto finished = shell("echo out; echo err >&2");
  EXPECT_EQ(finished.out, "out\n");
  EXPECT_EQ(finished.err, "err\n");
}

TEST_F(Run, leaves_standard_input_to_the_command) {
  const auto finished = holdfast({"run", "x", "--", "cat"}, {.input = "one\ntwo\n"});
  EXPECT_EQ(finished.out, "one\ntwo\n");
}

TEST_F(Run, tells_the_command_what_it_holds) {
  const auto finished = shell("echo $HOLDFAST_NAME $HOLDFAST_FENCE $HOLDFAST_OWNER; echo $HOME");
  EXPECT_THAT(finished.out, MatchesRegex("x [0-9]+ [0-9a-f]+\n/.*\n"));
}

TEST_F(Run, gives_each_grant_a_larger_fence) {
  const auto first = std::stoll(shell("echo $HOLDFAST_FENCE").out);
  const auto second = std::stoll(shell("echo $HOLDFAST_FENCE").out);
  EXPECT_LT(first, second);
}

TEST_F(Run, passes_arguments_on_as_they_are) {
  const auto finished =
      holdfast({"run", "x", "--", "printf", "[%s]", "--json", "--", "a b", "", "-n"});
  EXPECT_EQ(finished.out, "[--json][--][a b][][-n]");
}

TEST_F(Run, of_a_script_without_an_interpreter_uses_the_shell) {
  std::ofstream(path("script")) << "echo from $0 $1\n";
  chmod(path("script").c_str(), 0755);
  EXPECT_EQ(holdfast({"run", "x", "--", path("script"), "me"}).out,
            "from " + path("script") + " me\n");
}

TEST_F(Run, of_what_is_not_there_takes_no_lock) {
  auto other = holder({"x"});
  ASSERT_TRUE(other.says("held"));
  const auto missing = holdfast({"run", "x", "--", "no-such-program"});
  EXPECT_EQ(missing.code, 127);
  EXPECT_THAT(missing.err, HasSubstr("\"no-such-program\" was not found"));
  EXPECT_EQ(holdfast({"run", "x", "--", "/no/such/program"}).code, 127);
  EXPECT_EQ(holdfast({"run", "x", "--", ""}).code, 127);
  EXPECT_EQ(holdfast({"run", "x", "--", "/etc/passwd"}).code, 126);
  EXPECT_EQ(holdfast({"run", "x", "--", "/"}).code, 126);
}

TEST_F(Run, of_a_file_that_is_no_program_gives_the_lock_back) {
  std::ofstream(path("broken")) << "#!/no/such/interpreter\n";
  chmod(path("broken").c_str(), 0755);
  EXPECT_EQ(holdfast({"run", "x", "--", path("broken")}).code, 127);
  EXPECT_EQ(shell("true", {"-n", "x"}).code, 0);
}

TEST_F(Run, fails_at_once_or_in_time_if_the_lock_is_held) {
  auto other = holder({"x"});
  ASSERT_TRUE(other.says("held"));
  const auto busy = shell("echo no", {"-n", "x"});
  EXPECT_EQ(busy.code, 75);
  EXPECT_EQ(busy.out, "");
  EXPECT_THAT(busy.err, HasSubstr("'x' has been held by holdfast"));
  EXPECT_EQ(shell("echo no", {"--wait", "50ms", "x"}).code, 76);
  EXPECT_EQ(shell("echo no", {"-n", "-E", "5", "x"}).code, 5);
  EXPECT_EQ(shell("echo no", {"-w", "50ms", "--busy-code", "6", "x"}).code, 6);
  EXPECT_EQ(shell("echo yes", {"-n", "y"}).out, "yes\n");
}

TEST_F(Run, gets_the_lock_when_the_one_before_is_done) {
  Program first(words({"run", "x", "--", "cat"}), with({.keep_input_open = true}));
  ASSERT_TRUE(eventually([&] { return shell("true", {"-n", "x"}).code == 75; }));
  Program second(words({"run", "x", "--", "echo", "mine"}), with({}));
  ASSERT_TRUE(is_waited_for("x"));
  EXPECT_EQ(second.out(), "");
  first.end_input();
  EXPECT_EQ(second.wait(), 0);
  EXPECT_EQ(second.out(), "mine\n");
}

TEST_F(Run, shares_with_those_who_share) {
  auto reader = holder({"--shared", "x"});
  ASSERT_TRUE(reader.says("held"));
  EXPECT_EQ(shell("true", {"-n", "--shared", "x"}).code, 0);
  EXPECT_EQ(shell("true", {"-n", "x"}).code, 75);
}

TEST_F(Run, takes_as_many_permits_as_it_is_told) {
  auto two = holder({"--permits", "2/3", "x"});
  ASSERT_TRUE(two.says("held"));
  EXPECT_EQ(shell("true", {"-n", "--permits", "2/3", "x"}).code, 75);
  EXPECT_EQ(shell("true", {"-n", "--permits", "1/3", "x"}).code, 0);
  EXPECT_EQ(shell("true", {"-n", "--permits", "1/4", "x"}).code, 81);
}

TEST_F(Run, of_a_reentrant_lock_enters_again_below_itself) {
  const std::string inner = std::string(HOLDFAST_BINARY) + " run -n --reentrant x -- echo inside";
  EXPECT_EQ(shell(inner, {"--reentrant", "x"}).out, "inside\n");
  auto other = holder({"--reentrant", "x"});
  ASSERT_TRUE(other.says("held"));
  EXPECT_EQ(shell("true", {"-n", "--reentrant", "x"}).code, 75);
}

TEST_F(Run, of_a_reentrant_lock_below_several_others_has_an_owner_of_its_own) {
  const std::string inner = std::string(HOLDFAST_BINARY) + " run -n --reentrant c -- echo inside";
  EXPECT_EQ(shell(inner, {"--name", "a", "--name", "b"}).out, "inside\n");
}

TEST_F(Run, below_itself_says_deadlock_instead_of_waiting_for_ever) {
  const std::string inner = std::string(HOLDFAST_BINARY) + " run x -- echo inside";
  const auto finished = shell(inner);
  EXPECT_EQ(finished.code, 84);
  EXPECT_THAT(finished.err, HasSubstr("--reentrant"));
  const std::string shared = std::string(HOLDFAST_BINARY) + " run --shared x -- echo inside";
  EXPECT_EQ(shell(shared, {"--shared", "x"}).out, "inside\n");
  const std::string permit = std::string(HOLDFAST_BINARY) + " run --permits 1/2 x -- echo inside";
  EXPECT_EQ(shell(permit, {"--permits", "1/2", "x"}).out, "inside\n");
  EXPECT_EQ(shell(permit, {"--permits", "2/2", "x"}).code, 84);
}

TEST_F(Run, of_a_name_with_a_dash_can_be_looked_at) {
  Program other(words({"run", "--name=-x", "--", "sh", "-c", "echo held; exec sleep 60"}),
                with({}));
  ASSERT_TRUE(other.says("held"));
  EXPECT_THAT(holdfast({"status", "--json", "--", "-x"}).out, HasSubstr("\"name\":\"-x\""));
  EXPECT_EQ(holdfast({"status", "--", "-x", "y"}).code, 64);
}

TEST_F(Run, of_a_name_in_brackets_does_not_run_beside_another_of_that_name) {
  for (const std::string name : {"[x]", "[a,b]", "[]"}) {
    SCOPED_TRACE(name);
    auto other = holder({name});
    ASSERT_TRUE(other.says("held"));
    EXPECT_EQ(shell("echo inside", {"-n", "--name", name}).code, 75);
    EXPECT_EQ(shell("echo \"$HOLDFAST_NAME\"", {"-n", "--name", name + "y"}).out, name + "y\n");
  }
}

TEST_F(Run, takes_several_names_together_or_not_at_all) {
  const auto both = shell("echo \"$HOLDFAST_NAME\"", {"--name", "b", "--name", "a"});
  EXPECT_EQ(both.out, "a\nb\n");
  auto other = holder({"b"});
  ASSERT_TRUE(other.says("held"));
  EXPECT_EQ(shell("true", {"-n", "a", "--name", "b"}).code, 75);
  EXPECT_EQ(shell("true", {"-n", "a"}).code, 0);
  EXPECT_EQ(shell("true", {"a", "--name", "a"}).code, 64);
  EXPECT_EQ(shell("true", {"--shared", "a", "--name", "b"}).code, 64);
}

TEST_F(Run, refuses_a_store_that_nobody_else_sees) {
  const auto refused = shell("true", {"--store", "memory:", "x"});
  EXPECT_EQ(refused.code, 86);
  EXPECT_THAT(refused.err, HasSubstr("memory:"));
}

TEST_F(Run, takes_the_store_before_or_behind_its_name) {
  auto other = holder({"x"});
  ASSERT_TRUE(other.says("held"));
  const std::string elsewhere = "file:" + path("elsewhere");
  EXPECT_EQ(holdfast({"--store", elsewhere, "run", "-n", "x", "--", "true"}).code, 0);
  EXPECT_EQ(holdfast({"run", "-n", "x", "--store", elsewhere, "--", "true"}).code, 0);
  EXPECT_EQ(holdfast({"run", "-n", "x", "--", "true"}).code, 75);
}

TEST_F(Run, reports_in_json_beside_the_commands_output) {
  const auto finished = holdfast({"run", "--json", "x", "--", "echo", "mine"});
  EXPECT_EQ(finished.out, "mine\n");
  EXPECT_THAT(
      finished.err,
      MatchesRegex("\\{\"event\":\"acquired\",\"locks\":\\[\\{\"name\":\"x\",\"fence\":[0-9]+,"
                   "\"expires_in_ms\":[0-9]+\\}\\],\"waited_ms\":[0-9]+\\}\n"
                   "\\{\"event\":\"finished\",\"exit_code\":0,\"signal\":null,\"lost\":false,"
                   "\"held_ms\":[0-9]+\\}\n"));
}

struct BadRun {
  std::vector<std::string> arguments;
  std::string says;
};

TEST_F(Run, refuses_what_it_cannot_mean) {
  const std::vector<BadRun> table{
      {{"run", "x"}, "no command to run"},
      {{"run", "x", "--"}, "no command to run"},
      {{"run", "--", "true"}, "NAME is missing"},
      {{"run", "x", "y", "--", "true"}, "unexpected argument \"y\""},
      {{"run", "x", "--frob", "--", "true"}, "unknown option \"--frob\""},
      {{"run", "x", "--ttl", "5m5", "--", "true"}, "5m5"},
      {{"run", "x", "--ttl", "1m30s", "--", "true"}, "1m30s"},
      {{"run", "x", "--ttl", "-1s", "--", "true"}, "-1s"},
      {{"run", "x", "--wait", "1e99s", "--", "true"}, "1e99s"},
      {{"run", "x", "--wait", "10", "--", "true"}, "10"},
      {{"run", "x", "--ttl", "0s", "--", "true"}, "ttl"},
      {{"run", "x", "--ttl", "25h", "--", "true"}, "ttl"},
      {{"run", "x", "--wait", "25h", "--", "true"}, "wait"},
      {{"run", "x", "--max-hold", "1s", "--", "true"}, "max_hold"},
      {{"run", "x", "--ttl", "2s", "--kill-after", "2s", "--", "true"}, "--kill-after"},
      {{"run", "x", "--on-lost", "cry", "--", "true"}, "term, kill or ignore"},
      {{"run", "x", "-E", "256", "--", "true"}, "busy-code"},
      {{"run", "x", "--permits", "0/5", "--", "true"}, "N/M"},
      {{"run", "x", "--permits", "5", "--", "true"}, "N/M"},
      {{"run", "x", "--shared", "--reentrant", "--", "true"}, "--shared"},
      {{"run", "x", "-n", "-w", "1s", "--", "true"}, "--wait"},
      {{"run", "a\tb", "--", "true"}, "name"},
      {{"run", "", "--", "true"}, "NAME is missing"},
      {{"run", std::string(513, 'x'), "--", "true"}, "name"},
      {{"run", "x", "--note", std::string(5000, 'x'), "--", "true"}, "note"},
  };
  for (const auto& bad : table) {
    const auto finished = holdfast(bad.arguments);
    EXPECT_EQ(finished.code, 64) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, HasSubstr(bad.says));
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  }
}

}  // namespace
}  // namespace holdfast::test
