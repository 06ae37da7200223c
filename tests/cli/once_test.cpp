// SPDX-License-Identifier: Apache-2.0
//
// holdfast once: a command that is not run again for a while, anywhere.
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class Once : public Cli {
 protected:
  std::vector<std::string> line(std::vector<std::string> options, const std::string& script,
                                const std::string& key = "nightly") const {
    std::vector<std::string> all{"once", key};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", "sh", "-c", script});
    return all;
  }
  Finished once(std::vector<std::string> options, const std::string& script,
                const std::string& key = "nightly") const {
    return holdfast(line(std::move(options), script, key));
  }
  std::unique_ptr<Program> start(std::vector<std::string> options, const std::string& script) {
    return std::make_unique<Program>(words(line(std::move(options), script)), with({}));
  }
  // Appends a line to a file: what must happen once.
  std::string effect() const { return "echo done >>" + path("effects"); }
  std::size_t effects() const {
    std::ifstream file(path("effects"));
    std::size_t lines = 0;
    for (std::string each; std::getline(file, each);) ++lines;
    return lines;
  }
};

TEST_F(Once, runs_the_command_and_then_no_more) {
  const auto first = once({"--for", "1h"}, effect() + "; echo out");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, "out\n");
  EXPECT_EQ(first.err, "");
  const auto second = once({"--for", "1h"}, effect());
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(second.out, "");
  EXPECT_THAT(second.err, HasSubstr("'nightly' has run on "));
  EXPECT_THAT(second.err, HasSubstr(" at 20")) << "it says when";
  EXPECT_THAT(second.err, HasSubstr("skipped for another "));
  EXPECT_EQ(effects(), 1U);
  EXPECT_EQ(once({"--for", "1h", "--skipped-exit", "7"}, effect()).code, 7);
  EXPECT_EQ(once({"--for", "1h", "--quiet"}, effect()).err, "");
  EXPECT_EQ(once({"--for", "1h"}, effect(), "weekly").code, 0);
  EXPECT_EQ(effects(), 2U) << "another key is another thing";
}

TEST_F(Once, runs_again_when_the_window_is_over) {
  ASSERT_EQ(once({"--for", "1s"}, effect()).code, 0);
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(once({"--for", "1s"}, effect()).code, 0);
    return effects() == 2;
  }));
}

TEST_F(Once, a_failure_does_not_count_and_may_be_kept_for_a_while) {
  EXPECT_EQ(once({"--for", "1h"}, "exit 3").code, 3);
  EXPECT_EQ(once({"--for", "1h", "--keep-failure", "1h"}, "exit 4").code, 4);
  const auto told = once({"--for", "1h"}, effect());
  EXPECT_EQ(told.code, 75);
  EXPECT_THAT(told.err, HasSubstr("'nightly' has failed: exit code 4 on "));
  EXPECT_EQ(once({"--for", "1h", "-E", "0"}, effect()).code, 0);
  EXPECT_EQ(effects(), 0U);
}

TEST_F(Once, the_command_finds_key_fence_and_whether_it_took_over) {
  const auto fence_of = [](const std::string& out) {
    return std::stoull(out.substr(out.find(' ')));
  };
  const auto script = "echo $HOLDFAST_KEY $HOLDFAST_FENCE $HOLDFAST_TOOK_OVER";
  const auto first = once({"--for", "1h"}, std::string(script) + "; kill -9 $$");
  EXPECT_EQ(first.code, 128 + SIGKILL);
  EXPECT_THAT(first.out, StartsWith("nightly "));
  EXPECT_TRUE(first.out.ends_with(" 0\n")) << first.out;
  const auto second = once({"--for", "1h"}, script);
  EXPECT_EQ(second.code, 0);
  EXPECT_TRUE(second.out.ends_with(" 1\n")) << second.out;
  EXPECT_GT(fence_of(second.out), fence_of(first.out));
}

TEST_F(Once, what_was_killed_is_unknown_to_whoever_does_not_take_over) {
  EXPECT_EQ(once({"--for", "1h"}, "kill -TERM $$").code, 128 + SIGTERM);
  const auto refused = once({"--for", "1h", "--take-over", "refuse"}, effect());
  EXPECT_EQ(refused.code, 80);
  EXPECT_THAT(refused.err, HasSubstr("it may or may not have run"));
  EXPECT_EQ(effects(), 0U);
  EXPECT_EQ(once({"--for", "1h"}, effect()).code, 0);
  EXPECT_EQ(effects(), 1U);
}

TEST_F(Once, one_that_runs_now_is_busy_or_waited_for) {
  auto first = start({"--for", "1h"}, "echo ready; while ! test -e " + path("go") +
                                          "; do sleep 0.02; done; " + effect());
  ASSERT_TRUE(first->says("ready")) << first->err();
  const auto busy = once({"--for", "1h"}, effect());
  EXPECT_EQ(busy.code, 75);
  EXPECT_THAT(busy.err, HasSubstr("runs now, somewhere else"));
  const auto quiet = once({"--for", "1h", "--quiet", "--busy-code", "0"}, effect());
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.err, "") << "no mail from cron";
  auto waiting = start({"--for", "1h", "--wait", "1m"}, effect());
  std::ofstream(path("go")) << "go";
  EXPECT_EQ(first->wait(), 0) << first->err();
  EXPECT_EQ(waiting->wait(), 0) << waiting->err();
  EXPECT_THAT(waiting->err(), HasSubstr("has run on "));
  EXPECT_EQ(effects(), 1U);
}

TEST_F(Once, another_fingerprint_is_something_else) {
  ASSERT_EQ(once({"--for", "1h", "--fingerprint", "v1"}, effect()).code, 0);
  const auto other = once({"--for", "1h", "--fingerprint", "v2"}, effect());
  EXPECT_EQ(other.code, 81);
  EXPECT_THAT(other.err, HasSubstr("the fingerprints differ"));
  EXPECT_EQ(once({"--for", "1h", "--fingerprint", "v1"}, effect()).code, 0);
  EXPECT_EQ(effects(), 1U);
}

TEST_F(Once, a_crash_of_holdfast_in_the_middle_is_taken_over_after_the_guard) {
  auto first = start({"--for", "1h", "--guard", stretched(1s)}, "echo $$ ready; exec sleep 60");
  ASSERT_TRUE(first->says("ready")) << first->err();
  const pid_t command = std::stoi(first->out());
  first->signal(SIGKILL);
  EXPECT_EQ(first->wait(), 1000 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_running(command); })) << "the command dies with it";
  // Whoever waits is not told an answer that never came, but runs in its place.
  const auto second =
      once({"--for", "1h", "--wait", "10m"}, "echo $HOLDFAST_TOOK_OVER; " + effect());
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.out, "1\n");
  EXPECT_EQ(effects(), 1U);
}

TEST_F(Once, a_holdfast_that_is_told_to_end_says_that_nobody_knows) {
  auto first =
      start({"--for", "1h"}, "trap 'exit 9' TERM; echo ready; while :; do sleep 0.02; done");
  ASSERT_TRUE(first->says("ready")) << first->err();
  first->signal(SIGTERM);
  EXPECT_EQ(first->wait(), 9);
  EXPECT_EQ(once({"--for", "1h", "--take-over", "refuse"}, effect()).code, 80);
}

TEST_F(Once, a_command_that_cannot_be_run_has_not_run) {
  const auto missing = holdfast({"once", "nightly", "--for", "1h", "--", "/nonexistent/program"});
  EXPECT_EQ(missing.code, 127);
  EXPECT_EQ(once({"--for", "1h"}, effect()).code, 0);
  EXPECT_EQ(effects(), 1U);
}

TEST_F(Once, bad_input_names_the_option_and_runs_nothing) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "--for"},
      {{"--for", "0s"}, "--for must be from 1s to 31d; got 0s"},
      {{"--for", "32d"}, "--for must be from 1s to 31d"},
      {{"--for", "soon"}, "--for"},
      {{"--for", "1h", "--guard", "99ms"}, "--guard must be from 100ms to 1d"},
      {{"--for", "1h", "--wait", "25h"}, "--wait must be from 0s to 1d"},
      {{"--for", "1h", "--keep-failure", "32d"}, "--keep-failure must be from 0s to 31d"},
      {{"--for", "1h", "--take-over", "maybe"}, "must be run or refuse"},
      {{"--for", "1h", "--skipped-exit", "256"}, "--skipped-exit"},
      {{"--for", "1h", "--kill-after", "16s"},
       "--kill-after must be at most half of the guard, 15s"},
      {{"--for", "1h", "--fingerprint", std::string(257, 'f')},
       "--fingerprint must have at most 256"},
  };
  for (const auto& [options, reason] : cases) {
    const auto refused = once(options, effect());
    EXPECT_EQ(refused.code, 64) << reason << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(reason));
  }
  EXPECT_EQ(once({"--for", "1h"}, effect(), "").code, 64);
  EXPECT_EQ(once({"--for", "1h"}, effect(), std::string(401, 'k')).code, 64);
  EXPECT_EQ(holdfast({"once", "nightly", "--for", "1h"}).code, 64) << "without a command";
  EXPECT_EQ(holdfast({"--store", "memory:", "once", "a", "--for", "1h", "--", "true"}).code, 86);
  EXPECT_EQ(effects(), 0U);
}

TEST_F(Once, as_json_tells_of_begin_end_and_skip_on_standard_error) {
  const auto lines_of = [](const std::string& text) {
    std::vector<json::value> lines;
    std::istringstream stream(text);
    for (std::string each; std::getline(stream, each);) lines.push_back(json::parse(each));
    return lines;
  };
  const auto ran = lines_of(once({"--for", "1h", "--json"}, effect()).err);
  ASSERT_EQ(ran.size(), 2U);
  EXPECT_EQ(ran[0].at("event"), "begun");
  EXPECT_EQ(ran[0].at("key"), "nightly");
  EXPECT_EQ(ran[0].at("taken_over"), false);
  EXPECT_EQ(ran[1].at("event"), "finished");
  EXPECT_EQ(ran[1].at("exit_code"), 0);
  const auto skipped = lines_of(once({"--for", "1h", "--json"}, effect()).err);
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_EQ(skipped[0].at("event"), "skipped");
  EXPECT_EQ(skipped[0].at("why"), "replayed");
  EXPECT_GT(skipped[0].at("remaining_ms").as_int64(), 3'500'000);
}

// On a store that many machines share.
class OnceOnRedis : public Once {
 protected:
  std::vector<std::string> there(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"--store", server_.url(), "--for", "1h"});
    return options;
  }
  RedisServer server_;
};

TEST_F(OnceOnRedis, of_several_machines_at_the_same_time_one_runs) {
  std::vector<std::unique_ptr<Program>> all;
  for (int each = 0; each < 6; ++each) all.push_back(start(there({"--wait", "1m"}), effect()));
  for (auto& each : all) EXPECT_EQ(each->wait(), 0) << each->err();
  EXPECT_EQ(effects(), 1U);
}

TEST_F(OnceOnRedis, a_store_that_goes_away_ends_the_command_before_another_can_take_over) {
  auto run = start(there({"--guard", stretched(3s)}),
                   "trap 'echo term; exit 5' TERM; echo ready; while :; do sleep 0.02; done");
  ASSERT_TRUE(run->says("ready")) << run->err();
  server_.stop();
  EXPECT_EQ(run->wait(), 77);
  EXPECT_TRUE(run->says("term"));
  EXPECT_THAT(run->err(), HasSubstr("the run is lost"));
  server_.cont();
}

}  // namespace
}  // namespace holdfast::test
