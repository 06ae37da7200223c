// SPDX-License-Identifier: Apache-2.0
//
// The program on five real servers, some of which die.
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class RedlockCli : public Cli {
 protected:
  std::string address(std::size_t member) const {
    return fmt::format("127.0.0.1:{}", members_[member].port());
  }
  std::string url() const {
    std::string all;
    for (std::size_t at = 0; at < members_.size(); ++at) all += (at == 0 ? "" : ",") + address(at);
    return "redlock://" + all + "?retry_delay=20ms&retry_jitter=10ms&retries=1&grace=0s";
  }
  Finished there(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--store", url()});
    return holdfast(std::move(arguments));
  }
  void kill_first(std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) members_[at].kill();
  }

  std::array<RedisServer, 5> members_;
};

TEST_F(RedlockCli, status_shows_a_row_for_each_member) {
  const auto lease = there({"acquire", "x", "--ttl", "1m", "--json"});
  ASSERT_EQ(lease.code, 0) << lease.err;
  const auto fence = boost::json::parse(lease.out).at("fence").to_number<std::uint64_t>();
  members_[4].kill();
  const auto status = there({"status", "x"});
  ASSERT_EQ(status.code, 0) << status.err;
  EXPECT_THAT(status.out, AllOf(HasSubstr("x: mutex, held\n"), HasSubstr("members\n"),
                                HasSubstr(fmt::format("{}  held         {}  ", address(0), fence)),
                                HasSubstr(address(4) + "  unreachable ")));
  const auto json = boost::json::parse(there({"status", "x", "--json"}).out);
  const auto& rows = json.at("members").as_array();
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[4].at("state"), "unreachable");
  EXPECT_EQ(rows[4].at("counts"), false);
}

TEST_F(RedlockCli, a_lease_is_renewed_and_released_while_two_of_five_are_dead) {
  kill_first(2);
  const auto lease = there({"acquire", "x", "--ttl", "1m", "--json"});
  ASSERT_EQ(lease.code, 0) << lease.err;
  const std::string owner(boost::json::parse(lease.out).at("owner").as_string());
  const auto busy = there({"acquire", "x"});
  EXPECT_EQ(busy.code, 75);
  EXPECT_THAT(busy.err, HasSubstr(" on 3 of 5 members for "));
  EXPECT_THAT(there({"list"}).out, HasSubstr("x "));
  EXPECT_EQ(there({"renew", "x", "--owner", owner, "--ttl", "2m"}).code, 0);
  EXPECT_EQ(there({"release", "x", "--owner", owner}).code, 0);
  EXPECT_EQ(there({"release", "x", "--owner", owner}).code, 82);
}

TEST_F(RedlockCli, a_command_goes_on_when_two_of_five_die_under_it) {
  const auto ttl = test::stretched(3s);
  const auto seconds = 1.3 * std::chrono::duration<double>(ttl).count();
  Program run(words({"run", "--store", url(), "--ttl", option_of(ttl), "x", "--", "sh", "-c",
                     fmt::format("echo ready; sleep {:.2f}; echo done", seconds)}),
              with({}));
  ASSERT_TRUE(run.says("ready"));
  kill_first(2);
  EXPECT_EQ(run.wait(), 0) << run.err();
  EXPECT_TRUE(run.says("done"));
}

TEST_F(RedlockCli, a_command_is_ended_in_time_when_three_of_five_die_under_it) {
  Program run(words({"run", "--store", url(), "--ttl", stretched(3s), "x", "--", "sh", "-c",
                     "echo ready; exec sleep 60"}),
              with({}));
  ASSERT_TRUE(run.says("ready"));
  kill_first(3);
  EXPECT_EQ(run.wait(), 77);
  EXPECT_TRUE(run.complains("lock lost"));
}

TEST_F(RedlockCli, with_three_of_five_dead_nothing_runs_and_each_of_them_is_named) {
  kill_first(3);
  const auto run = there({"run", "x", "--", "echo", "ran"});
  EXPECT_EQ(run.code, 78);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("quorum not reached: 2 of 5 members answer, 3 are needed"));
  for (const std::size_t at : {0U, 1U, 2U}) {
    EXPECT_THAT(run.err, HasSubstr(address(at) + " unreachable (cannot connect: "));
  }
  EXPECT_EQ(there({"acquire", "x"}).code, 78);
  EXPECT_EQ(there({"status", "x"}).code, 78);
}

TEST_F(RedlockCli, doctor_says_who_is_away_and_what_the_members_would_forget) {
  kill_first(2);
  const auto doctor = there({"doctor"});
  EXPECT_EQ(doctor.code, 0) << doctor.err;
  EXPECT_THAT(doctor.out,
              AllOf(HasSubstr("2 of 5 members cannot be reached; 3 must answer, so 0 more may go"),
                    HasSubstr("warn  set-up   " + address(0) + ": cannot connect"),
                    ContainsRegex("set grace=[0-9]+s"), HasSubstr("docs/stores/redlock.md")));
  members_[2].kill();
  const auto worse = there({"doctor"});
  EXPECT_EQ(worse.code, 69);
  EXPECT_THAT(worse.out, HasSubstr("fail  reach    "));
}

TEST_F(RedlockCli, a_leader_is_elected_while_two_of_five_are_dead) {
  kill_first(2);
  const auto elect = there({"elect", "boss", "--", "echo", "leads"});
  EXPECT_EQ(elect.code, 0) << elect.err;
  EXPECT_EQ(elect.out, "leads\n");
}

TEST_F(RedlockCli, what_a_majority_cannot_promise_is_refused) {
  for (const auto& what : {std::vector<std::string>{"--permits", "1/2"},
                           std::vector<std::string>{"--order", "fifo"}}) {
    const auto refused = there({"acquire", "x", what[0], what[1]});
    EXPECT_EQ(refused.code, 86) << refused.err;
  }
}

}  // namespace
}  // namespace holdfast::test
