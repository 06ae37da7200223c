// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis.hpp"

#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Diagnosis, speed_is_the_median_and_the_worst) {
  const auto check = judge_speed({3ms, 1ms, 2ms});
  EXPECT_EQ(check.state, Health::ok);
  EXPECT_THAT(check.message, HasSubstr("3 round trips: median 2.00 ms, worst 3.00 ms"));
}

TEST(Diagnosis, a_slow_store_is_a_warning) {
  EXPECT_EQ(judge_speed({60ms, 60ms, 60ms}).state, Health::warn);
  EXPECT_EQ(judge_speed({1ms, 1ms, 300ms}).state, Health::warn);
}

TEST(Diagnosis, clocks_agree_as_far_as_a_round_trip_can_tell) {
  EXPECT_THAT(judge_clock(800us, 1ms).message, HasSubstr("agree"));
  EXPECT_THAT(judge_clock(-4ms, 10ms).message, HasSubstr("agree"));
  EXPECT_THAT(judge_clock(-40ms, 1ms).message, HasSubstr("40ms behind ours"));
  EXPECT_EQ(judge_clock(-40ms, 1ms).state, Health::ok);
  EXPECT_THAT(judge_clock(5s, 1ms).message, HasSubstr("ahead of ours"));
  EXPECT_EQ(judge_clock(5s, 1ms).state, Health::warn);
}

TEST(Diagnosis, warnings_count_only_when_they_should) {
  const std::vector<Check> fine{{"a", Health::ok, ""}};
  const std::vector<Check> doubtful{{"a", Health::ok, ""}, {"b", Health::warn, ""}};
  const std::vector<Check> broken{{"a", Health::warn, ""}, {"b", Health::fail, ""}};
  EXPECT_EQ(exit_of(fine, true), 0);
  EXPECT_EQ(exit_of(doubtful, false), 0);
  EXPECT_EQ(exit_of(doubtful, true), 88);
  EXPECT_EQ(exit_of(broken, false), 69);
  EXPECT_EQ(exit_of(broken, true), 69);
}

TEST(Diagnosis, a_finding_is_a_warning_each) {
  EXPECT_EQ(judge_setup({}).front().state, Health::ok);
  const std::vector<std::string> findings{"one", "two"};
  const auto checks = judge_setup(findings);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[1].state, Health::warn);
  EXPECT_EQ(checks[1].message, "two");
}

TEST(Diagnosis, every_store_that_can_be_opened_has_a_promise_of_its_own) {
  for (const auto* scheme : {"memory", "file", "redis", "rediss"}) {
    EXPECT_THAT(promise(scheme).message, HasSubstr("docs/stores/")) << scheme;
  }
}

TEST(Diagnosis, as_json_it_has_a_state_for_each_check) {
  const std::vector<Check> checks{{"reach", Health::fail, "no route"}};
  EXPECT_EQ(boost::json::serialize(to_json(checks)),
            R"({"checks":[{"name":"reach","state":"fail","message":"no route"}],"ok":false})");
}

}  // namespace
}  // namespace holdfast::cli
