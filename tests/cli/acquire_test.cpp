// SPDX-License-Identifier: Apache-2.0
#include "cli/holdfast_program.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <csignal>
#include <sstream>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

class Acquire : public Cli {
 protected:
  struct Taken {
    std::string owner;
    std::string fence;
  };
  Taken take(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "acquire");
    const auto done = holdfast(arguments);
    EXPECT_EQ(done.code, 0) << done.err;
    Taken taken;
    std::istringstream(done.out) >> taken.owner >> taken.fence;
    return taken;
  }
  json::value status(const std::string& name) const {
    return json::parse(holdfast({"status", "--json", name}).out);
  }
  bool is_held(const std::string& name) const {
    return !status(name).at("holders").as_array().empty();
  }
  std::size_t waiting(const std::string& name) const {
    return status(name).at("waiters").as_array().size();
  }
};

TEST_F(Acquire, prints_owner_and_fence_in_one_line_and_leaves_the_lock_held) {
  const auto done = holdfast({"acquire", "deploy", "--ttl", "1m", "--note", "by hand"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.err, "");
  EXPECT_THAT(done.out, testing::MatchesRegex("[0-9a-f]{32} [0-9]+\n"));
  const auto lock = status("deploy");
  EXPECT_EQ(lock.at("holders").at(0).at("note"), "by hand");
  EXPECT_EQ(lock.at("holders").at(0).at("source"), json::value(nullptr));
  const auto left = lock.at("holders").at(0).at("expires_in_ms").as_int64();
  EXPECT_GT(left, 30000);
  EXPECT_LE(left, 60000);
}

TEST_F(Acquire, as_json_prints_a_lease) {
  const auto lease = json::parse(holdfast({"acquire", "deploy", "--json"}).out);
  EXPECT_EQ(lease.at("name"), "deploy");
  EXPECT_EQ(lease.at("owner").as_string().size(), 32U);
  EXPECT_GT(lease.at("fence").as_int64(), 0);
  EXPECT_GT(lease.at("expires_in_ms").as_int64(), 20000);
}

TEST_F(Acquire, fails_fast_unless_it_is_told_to_wait) {
  take({"deploy"});
  const auto busy = holdfast({"acquire", "deploy"});
  EXPECT_EQ(busy.code, 75);
  EXPECT_EQ(busy.out, "");
  EXPECT_THAT(busy.err, HasSubstr("'deploy' has been held by"));
  EXPECT_EQ(holdfast({"acquire", "deploy", "--wait", "100ms"}).code, 76);
  EXPECT_EQ(holdfast({"acquire", "deploy", "--wait", "1s", "--no-wait"}).code, 64);
}

TEST_F(Acquire, that_fails_repeats_nothing_raw_of_what_the_holder_said_of_itself) {
  const auto evil = "exec -a $'\\e]0;evil' " + std::string(HOLDFAST_BINARY) + " acquire deploy";
  ASSERT_EQ(run({"bash", "-c", evil}, with({})).code, 0);
  const auto busy = holdfast({"acquire", "deploy"});
  EXPECT_EQ(busy.code, 75);
  EXPECT_THAT(busy.err, HasSubstr("\\x1b]0;evil"));
  EXPECT_THAT(busy.err, Not(HasSubstr("\x1b]")));
}

TEST_F(Acquire, that_waited_holds_the_lock_for_its_whole_ttl) {
  const auto first = take({"deploy"});
  Program second(words({"acquire", "deploy", "--wait", "10m", "--ttl", "1m"}), with({}));
  ASSERT_TRUE(eventually([&] { return waiting("deploy") == 1; }));
  ASSERT_EQ(holdfast({"release", "deploy", "--owner", first.owner}).code, 0);
  EXPECT_EQ(second.wait(), 0);
  const auto lock = status("deploy");
  EXPECT_EQ(lock.at("holders").at(0).at("claimed"), false);
  EXPECT_GT(lock.at("holders").at(0).at("expires_in_ms").as_int64(), 30000);
}

TEST_F(Acquire, that_is_interrupted_leaves_the_queue_and_ends_by_the_signal) {
  const auto first = take({"deploy"});
  for (const int signal : {SIGINT, SIGTERM}) {
    Program second(words({"acquire", "deploy", "--wait", "10m"}), with({}));
    ASSERT_TRUE(eventually([&] { return waiting("deploy") == 1; }));
    second.signal(signal);
    EXPECT_EQ(second.wait(), 1000 + signal);
    EXPECT_EQ(second.out(), "");
    EXPECT_EQ(waiting("deploy"), 0U);
  }
  ASSERT_EQ(holdfast({"release", "deploy", "--owner", first.owner}).code, 0);
  EXPECT_FALSE(is_held("deploy"));
}

TEST_F(Acquire, whose_line_cannot_be_written_gives_the_lock_back) {
  for (const auto* where : {"/dev/full", "closed"}) {
    EXPECT_EQ(holdfast({"acquire", "deploy"}, {.stdout_to = where}).code, 74) << where;
    EXPECT_FALSE(is_held("deploy")) << where;
  }
}

TEST_F(Acquire, whose_reader_went_away_gives_the_lock_back) {
  // The reader is gone when the shell has waited for it.
  const auto script = "exec 3> >(true); wait $!; " + std::string(HOLDFAST_BINARY) +
                      " acquire deploy >&3; echo code=$?";
  const auto done = run({"bash", "-c", script}, with({}));
  EXPECT_EQ(done.out, "code=74\n") << done.err;
  EXPECT_FALSE(is_held("deploy"));
}

TEST_F(Acquire, quietly_needs_an_owner_that_is_known) {
  EXPECT_EQ(holdfast({"acquire", "-q", "deploy"}).code, 64);
  EXPECT_FALSE(is_held("deploy"));
  const auto done = holdfast({"acquire", "-q", "deploy", "--owner", "me"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(holdfast({"release", "deploy", "--owner", "me"}).code, 0);
}

TEST_F(Acquire, takes_every_kind) {
  take({"gpu", "--permits", "1/2"});
  take({"gpu", "--permits", "1/2"});
  EXPECT_EQ(holdfast({"acquire", "gpu", "--permits", "1/2"}).code, 75);
  take({"page", "--shared"});
  take({"page", "--shared"});
  EXPECT_EQ(holdfast({"acquire", "page"}).code, 75);
  take({"nest", "--reentrant", "--owner", "me"});
  take({"nest", "--reentrant", "--owner", "me"});
  EXPECT_EQ(holdfast({"acquire", "nest", "--reentrant"}).code, 75);
}

TEST_F(Acquire, refuses_what_is_not_a_name_or_a_duration) {
  EXPECT_EQ(holdfast({"acquire", ""}).code, 64);
  EXPECT_EQ(holdfast({"acquire", "a\nb"}).code, 64);
  EXPECT_EQ(holdfast({"acquire", "x", "--ttl", "1m30s"}).code, 64);
  EXPECT_EQ(holdfast({"acquire", "x", "--ttl", "1ms"}).code, 64);
  EXPECT_EQ(holdfast({"acquire", "x", "--wait", "48h"}).code, 64);
  EXPECT_EQ(holdfast({"acquire"}).code, 64);
}

TEST_F(Acquire, is_released_by_its_owner_only) {
  const auto mine = take({"deploy"});
  const auto refused = holdfast({"release", "deploy", "--owner", "not-the-token"});
  EXPECT_EQ(refused.code, 83);
  EXPECT_THAT(refused.err, Not(HasSubstr("not-the-token")));
  EXPECT_TRUE(is_held("deploy"));
  const auto done = holdfast({"release", "deploy", "--owner", mine.owner});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, "");
  const auto again = holdfast({"release", "deploy", "--owner", mine.owner});
  EXPECT_EQ(again.code, 82);
  EXPECT_THAT(again.err, Not(HasSubstr(mine.owner)));
}

// The owner is the user's own, and is used again.
TEST_F(Acquire, is_left_alone_by_a_late_release_of_an_older_fence) {
  const auto first = take({"deploy", "--owner", "job-17"});
  const auto late = words({"release", "deploy", "--owner", "job-17", "--fence", first.fence});
  ASSERT_EQ(run(late, with({})).code, 0);
  const auto next = take({"deploy", "--owner", "job-17"});
  const auto done = run(late, with({}));
  EXPECT_EQ(done.code, 82) << done.err;
  EXPECT_TRUE(is_held("deploy"));
  EXPECT_EQ(holdfast({"release", "deploy", "--owner", "job-17", "--fence", next.fence}).code, 0);
  EXPECT_FALSE(is_held("deploy"));
}

TEST_F(Acquire, is_not_released_by_a_fence_that_is_none) {
  take({"deploy", "--owner", "me"});
  for (const auto* bad : {"0", "-1", "1.5", "x", "", "9223372036854775808"}) {
    const auto refused = holdfast({"release", "deploy", "--owner", "me", "--fence", bad});
    EXPECT_EQ(refused.code, 64) << bad;
    EXPECT_THAT(refused.err, HasSubstr("must be an integer from 1 to 9223372036854775807")) << bad;
    EXPECT_THAT(refused.err, HasSubstr("--fence")) << bad;
  }
  EXPECT_TRUE(is_held("deploy"));
}

TEST_F(Acquire, is_released_by_the_owner_in_the_environment_too) {
  const auto mine = take({"deploy"});
  EXPECT_EQ(holdfast({"release", "deploy"}).code, 64);
  const auto done =
      holdfast({"release", "deploy", "--json"}, {.environment = {"HOLDFAST_OWNER=" + mine.owner}});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "{\"name\":\"deploy\",\"released\":true}\n");
}

TEST_F(Acquire, is_renewed_and_stays_held) {
  const auto mine = take({"deploy", "--ttl", "1m"});
  const auto done = holdfast({"renew", "deploy", "--owner", mine.owner, "--ttl", "2m"});
  EXPECT_EQ(done.code, 0);
  EXPECT_THAT(done.out, testing::MatchesRegex("1m 5[0-9]s left\n"));
  EXPECT_TRUE(is_held("deploy"));
  const auto lease = json::parse(
      holdfast({"renew", "deploy", "--owner", mine.owner, "--ttl", "1s", "--json"}).out);
  EXPECT_EQ(std::to_string(lease.at("fence").as_int64()), mine.fence);
  EXPECT_GT(lease.at("expires_in_ms").as_int64(), 60000) << "a lease is never made shorter";
  EXPECT_EQ(holdfast({"renew", "deploy", "--owner", "other"}).code, 83);
  EXPECT_EQ(holdfast({"renew", "nothing", "--owner", "other"}).code, 82);
  EXPECT_EQ(holdfast({"renew", "deploy", "--owner", mine.owner, "--ttl", "48h"}).code, 64);
  EXPECT_TRUE(is_held("deploy"));
}

}  // namespace
}  // namespace holdfast::test
