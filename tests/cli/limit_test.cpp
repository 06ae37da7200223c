// SPDX-License-Identifier: Apache-2.0
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Limit : public Cli {
 protected:
  Finished limit(std::vector<std::string> arguments, ProgramOptions options = {}) const {
    arguments.insert(arguments.begin(), "limit");
    return holdfast(std::move(arguments), std::move(options));
  }
};

TEST_F(Limit, without_a_command_asks_once_and_says_what_became_of_it) {
  const auto first = limit({"mail", "--rate", "2/h"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, "allowed: 1 of 2 used, 1 left\n");
  EXPECT_EQ(limit({"mail", "--rate", "2/h"}).code, 0);
  const auto denied = limit({"mail", "--rate", "2/h"});
  EXPECT_EQ(denied.code, 75);
  EXPECT_THAT(denied.out, StartsWith("denied: 2 of 2 used; allowed in "));
  EXPECT_EQ(denied.err, "") << "an outcome, not an error";
  EXPECT_EQ(limit({"other", "--rate", "2/h"}).code, 0);
}

TEST_F(Limit, as_json_is_the_object_of_the_http_api) {
  const auto outcome = json::parse(limit({"mail", "--rate", "5/h", "--cost", "2", "--json"}).out);
  EXPECT_EQ(outcome.at("scope"), "mail");
  EXPECT_EQ(outcome.at("allowed"), true);
  EXPECT_EQ(outcome.at("count"), 2);
  EXPECT_EQ(outcome.at("limit"), 5);
  EXPECT_EQ(outcome.at("remaining"), 3);
  EXPECT_EQ(outcome.at("retry_after_ms"), 0);
  EXPECT_GT(outcome.at("reset_ms").as_int64(), 3'000'000);
}

// The client's threads end before the process becomes the command: one that starts another thread
// in that moment is refused, and takes the process with it.
TEST_F(Limit, many_at_once_on_a_network_become_their_commands_all) {
  const RedisServer redis;
  const auto loop = fmt::format(
      "i=0; while [ $i -lt 150 ]; do i=$((i+1)); {} --store {} limit -n q$1-$i --rate 1/h -- true "
      "|| "
      "echo $?; done",
      HOLDFAST_BINARY, redis.url());
  Program one({"sh", "-c", loop, "sh", "1"}, with({}));
  Program two({"sh", "-c", loop, "sh", "2"}, with({}));
  EXPECT_EQ(one.wait(), 0);
  EXPECT_EQ(two.wait(), 0);
  EXPECT_EQ(one.out() + two.out(), "") << one.err() << two.err();
}

TEST_F(Limit, a_peek_counts_nothing_and_a_reset_forgets) {
  EXPECT_EQ(limit({"mail", "--rate", "1/h", "--peek"}).code, 0);
  EXPECT_EQ(limit({"mail", "--rate", "1/h"}).code, 0);
  EXPECT_EQ(limit({"mail", "--rate", "1/h", "--peek"}).code, 75);
  const auto reset = limit({"mail", "--rate", "1/h", "--reset"});
  EXPECT_EQ(reset.code, 0);
  EXPECT_EQ(reset.out, "reset\n");
  EXPECT_EQ(json::parse(limit({"mail", "--rate", "1/h", "--reset", "--json"}).out).at("reset"),
            true);
  EXPECT_EQ(limit({"mail", "--rate", "1/h"}).code, 0);
}

TEST_F(Limit, becomes_the_command_with_its_exit_code_and_streams) {
  const auto done = limit({"mail", "--rate", "5/h", "--", "sh", "-c", "cat; echo oops >&2; exit 7"},
                          {.input = "from stdin"});
  EXPECT_EQ(done.code, 7);
  EXPECT_EQ(done.out, "from stdin");
  EXPECT_EQ(done.err, "oops\n");
  EXPECT_EQ(json::parse(limit({"mail", "--rate", "5/h", "--peek", "--json"}).out).at("count"), 1);
}

TEST_F(Limit, is_the_same_process_and_leaves_no_descriptor_or_mask_behind) {
  // What this test itself was started with is inherited by both.
  const std::string look = "echo $$; ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status";
  const auto shell =
      fmt::format("{}; exec {} limit mail --rate 5/h -- sh -c '{}'", look, HOLDFAST_BINARY, look);
  const auto done = run({"sh", "-c", shell}, with({}));
  EXPECT_EQ(done.code, 0) << done.err;
  const auto half = done.out.size() / 2;
  EXPECT_GT(half, 0U);
  EXPECT_EQ(done.out.substr(0, half), done.out.substr(half));
}

TEST_F(Limit, runs_a_script_without_an_interpreter_as_a_shell_would) {
  std::ofstream(path("script")) << "echo \"$1 $0\"\n";
  chmod(path("script").c_str(), 0700);
  EXPECT_EQ(limit({"mail", "--rate", "5/h", "--", path("script"), "hello"}).out,
            "hello " + path("script") + "\n");
}

TEST_F(Limit, waits_for_its_turn) {
  const std::vector<std::string> words{"mail", "--rate", "1/400ms", "--", "echo", "ran"};
  const auto began = std::chrono::steady_clock::now();
  for (int each = 0; each < 3; ++each) {
    const auto done = limit(words);
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(done.out, "ran\n");
  }
  EXPECT_GE(std::chrono::steady_clock::now() - began, 800ms);
}

TEST_F(Limit, gives_up_when_told_to_and_runs_nothing) {
  EXPECT_EQ(limit({"mail", "--rate", "1/h"}).code, 0);
  const auto busy = limit({"mail", "--rate", "1/h", "--no-wait", "--", "echo", "ran"});
  EXPECT_EQ(busy.code, 75);
  EXPECT_EQ(busy.out, "");
  EXPECT_THAT(busy.err, HasSubstr("'mail' allows 1/h, and nothing is left; the next is allowed"));
  const auto began = std::chrono::steady_clock::now();
  const auto late = limit({"mail", "--rate", "1/h", "--wait", "10m", "--", "echo", "ran"});
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5min) << "it was in vain from the start";
  EXPECT_EQ(late.code, 76);
  EXPECT_EQ(late.out, "");
  EXPECT_THAT(late.err, HasSubstr("later than the 10m of the wait"));
  EXPECT_EQ(limit({"mail", "--rate", "1/h", "--wait", "50ms"}).code, 76);
}

TEST_F(Limit, a_signal_ends_the_wait_and_nothing_runs_or_counts) {
  EXPECT_EQ(limit({"mail", "--rate", "1/h"}).code, 0);
  Program waiter(words({"limit", "mail", "--rate", "1/h", "--", "echo", "ran"}),
                 with({.environment = {"TERM=dumb"}, .terminal = true}));
  ASSERT_TRUE(waiter.says("waiting for a turn of 'mail'"));
  waiter.signal(SIGTERM);
  EXPECT_EQ(waiter.wait(), 1000 + SIGTERM);
  EXPECT_THAT(waiter.out(), Not(HasSubstr("ran")));
  EXPECT_EQ(json::parse(limit({"mail", "--rate", "1/h", "--peek", "--json"}).out).at("count"), 1);
}

TEST_F(Limit, a_command_that_is_not_there_uses_nothing_up) {
  EXPECT_EQ(limit({"mail", "--rate", "1/h", "--", "no-such-program"}).code, 127);
  EXPECT_EQ(limit({"mail", "--rate", "1/h", "--", path("")}).code, 126);
  EXPECT_EQ(limit({"mail", "--rate", "1/h", "--peek"}).code, 0);
}

TEST_F(Limit, a_burst_makes_it_a_bucket) {
  const std::vector<std::string> words{"mail", "--rate", "10/h", "--burst", "2"};
  EXPECT_EQ(limit(words).code, 0);
  EXPECT_EQ(limit(words).code, 0);
  EXPECT_EQ(limit(words).code, 75);
}

TEST_F(Limit, bad_input_is_64_by_the_name_of_the_option) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--rate", "1/s"}, "SCOPE is missing"},
      {{"mail"}, "--rate is missing"},
      {{"mail", "--rate", "10"}, "--rate: rate \"10\" has no slash"},
      {{"mail", "--rate", "0/s"}, "--rate: rate \"0/s\" does not begin with an integer from 1"},
      {{"mail", "--rate", "-1/s"}, "--rate: rate \"-1/s\" does not begin"},
      {{"mail", "--rate", "1/0s"}, "--rate: rate \"1/0s\" has a window that is not from 1ms"},
      {{"mail", "--rate", "1/s", "--cost", "0"}, "cost: must be from 1 to 1"},
      {{"mail", "--rate", "1/s", "--cost", "2"}, "cost: must be from 1 to 1"},
      {{"mail", "--rate", "1/s", "--cost", "x"}, "--cost"},
      {{"mail", "--rate", "1/s", "--burst", "0"}, "--burst must be at least 1"},
      {{"mail", "--rate", "1/s", "--burst", "-1"}, "--burst"},
      {{"mail", "--rate", "1/s", "--algorithm", "leaky"}, "--algorithm: must be fixed_window"},
      {{"mail", "--rate", "1/s", "--algorithm", "fixed_window", "--burst", "2"},
       "--burst: only a token_bucket has one"},
      {{"mail", "--rate", "1/s", "--layout", "other"}, "--layout: must be native"},
      {{"mail", "--rate", "1/s", "--wait", "25h"}, "--wait: must be between 0 and 24h"},
      {{"mail", "--rate", "5/1500ms", "--layout", "n8n"}, "--rate: window: must be whole seconds"},
      {{"mail", "--rate", "999999937/31d", "--algorithm", "token_bucket"},
       "--rate: limit and window: their ratio is too fine"},
      {{"mail", "--rate", "1/s", "--wait", "soon"}, "--wait: duration \"soon\""},
      {{"mail", "--rate", "1/s", "--peek", "--reset"}, "--peek excludes --reset"},
      {{"mail", "--rate", "1/s", "--peek", "--", "true"}, "--peek and --reset run no command"},
      {{"mail", "--rate", "1/s", "--"}, "no command to run"},
      {{std::string(401, 'x'), "--rate", "1/s"}, "scope: must have 1 to 400 bytes; got 401"},
      {{"", "--rate", "1/s"}, "scope: must have 1 to 400 bytes; got 0"},
  };
  for (const auto& [words, reason] : cases) {
    const auto done = limit(words);
    EXPECT_EQ(done.code, 64) << done.err;
    EXPECT_THAT(done.err, HasSubstr(reason));
    EXPECT_EQ(done.out, "");
  }
  EXPECT_EQ(json::parse(limit({"mail", "--rate", "1/s", "--peek", "--json"}).out).at("count"), 0);
}

TEST_F(Limit, in_the_memory_of_one_process_is_refused) {
  EXPECT_EQ(limit({"mail", "--rate", "1/s", "--store", "memory:"}).code, 86);
}

}  // namespace
}  // namespace holdfast::test
