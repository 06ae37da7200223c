// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/stats_history.hpp"

#include "support/hand_runtime.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

// A second after the other, each with ten more grants than the one before.
Sample sample_at(std::uint64_t second) {
  Sample sample{.at = text::WallTime{std::chrono::seconds(1'794'778'200 + second)},
                .held = second,
                .acquired = 10 * second,
                .lost = second / 100};
  sample.waits.buckets[4] = static_cast<std::uint32_t>(second);
  return sample;
}

boost::json::object columns(const StatsHistory& history, std::string_view span) {
  return history.columns(*find_span(span));
}

TEST(StatsHistory, a_young_server_has_as_many_points_as_it_has_seconds) {
  StatsHistory history;
  EXPECT_EQ(columns(history, "1m").at("at").as_array().size(), 0U);
  history.add(sample_at(0));
  EXPECT_EQ(columns(history, "1m").at("at").as_array().size(), 0U) << "a rate needs two";
  history.add(sample_at(1));
  const auto out = columns(history, "1m");
  EXPECT_EQ(out.at("at").as_array().size(), 1U);
  EXPECT_EQ(out.at("acquired_per_s").as_array()[0].to_number<double>(), 10);
  EXPECT_EQ(out.at("held").as_array()[0].to_number<int>(), 1);
}

TEST(StatsHistory, each_span_ends_now_and_has_its_own_steps) {
  StatsHistory history;
  for (std::uint64_t second = 0; second < 5'000; ++second) history.add(sample_at(second));
  struct Expected {
    const char* span;
    std::size_t points;
    int step_ms;
  };
  for (const auto& [span, points, step_ms] :
       {Expected{"1m", 60, 1'000}, {"15m", 90, 10'000}, {"1h", 120, 30'000}}) {
    const auto out = columns(history, span);
    EXPECT_EQ(out.at("held").as_array().size(), points) << span;
    EXPECT_EQ(out.at("step_ms").to_number<int>(), step_ms);
    EXPECT_EQ(out.at("held").as_array().back().to_number<int>(), 4'999);
    EXPECT_EQ(out.at("acquired_per_s").as_array().front().to_number<double>(), 10) << span;
    EXPECT_EQ(out.at("at").as_array().size(), points);
  }
  EXPECT_EQ(find_span("2h"), nullptr);
}

TEST(StatsHistory, what_is_not_known_is_null) {
  StatsHistory history;
  history.add({.at = text::WallTime{1s}});
  history.add({.at = text::WallTime{2s}});
  const auto out = columns(history, "1m");
  EXPECT_TRUE(out.at("held").as_array()[0].is_null());
  EXPECT_TRUE(out.at("wait_p50_ms").as_array()[0].is_null());
}

TEST(StatsHistory, the_waits_of_a_step_are_those_that_ended_in_it) {
  StatsHistory history;
  Sample sample{.at = text::WallTime{1s}};
  for (int i = 0; i < 1'000; ++i) sample.waits.add(1h);
  history.add(sample);
  sample.at += 1s;
  for (int i = 0; i < 100; ++i) sample.waits.add(5ms);
  history.add(sample);
  const auto out = columns(history, "1m");
  EXPECT_NEAR(out.at("wait_p50_ms").as_array()[0].to_number<double>(), 3.75, 0.01);
  EXPECT_NEAR(out.at("wait_p99_ms").as_array()[0].to_number<double>(), 4.975, 0.01);
}

TEST(StatsHistory, reads_once_a_second_until_it_is_stopped) {
  auto runtime = std::make_shared<test::HandRuntime>();
  auto history = std::make_shared<StatsHistory>();
  std::uint64_t reads = 0;
  history->start(runtime, [&] { return sample_at(reads++); });
  runtime->advance(10s);
  EXPECT_EQ(reads, 10U);
  history->stop();
  runtime->advance(10s);
  EXPECT_EQ(reads, 10U);
  EXPECT_EQ(columns(*history, "1m").at("at").as_array().size(), 9U);
}

TEST(Counts, a_quantile_lies_within_its_bucket) {
  Counts counts;
  EXPECT_FALSE(counts.quantile_ms(0.5));
  counts.add(Counts::Time(2'000));
  EXPECT_NEAR(*counts.quantile_ms(0.5), 1.75, 0.001);
  EXPECT_NEAR(*counts.quantile_ms(1), 2.5, 0.001);
  for (int i = 0; i < 99; ++i) counts.add(2h);
  EXPECT_EQ(*counts.quantile_ms(0.99), 3'600'000) << "beyond the last bound it is that bound";
}

TEST(Counts, a_difference_is_right_even_after_the_numbers_went_round) {
  Counts before;
  before.buckets[0] = 0xffff'ffff;
  Counts after;
  after.buckets[0] = 4;
  EXPECT_EQ(after.since(before).count(), 5U);
}

}  // namespace
}  // namespace holdfast::server
