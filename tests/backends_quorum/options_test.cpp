// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/options.hpp"

#include <gtest/gtest.h>

namespace holdfast::backends::quorum {
namespace {

using Given = std::map<std::string, std::string, std::less<>>;

Options taken(Given given) {
  auto options = take_options(given);
  if (options) return *options;
  ADD_FAILURE() << options.error().message;
  return {};
}

TEST(QuorumOptions, have_defaults) {
  const auto options = taken({});
  EXPECT_EQ(options.drift, 0.01);
  EXPECT_EQ(options.timeout, 200ms);
  EXPECT_EQ(options.retry_delay, 200ms);
  EXPECT_EQ(options.retry_jitter, 200ms);
  EXPECT_EQ(options.retries, 3U);
  EXPECT_TRUE(options.fences);
  EXPECT_EQ(options.grace, 30s);
  EXPECT_FALSE(options.allow_same_server);
}

TEST(QuorumOptions, are_all_read) {
  const auto options = taken({{"drift", "0.05"},
                              {"timeout", "50ms"},
                              {"retry_delay", "100ms"},
                              {"retry_jitter", "0ms"},
                              {"retries", "0"},
                              {"fence", "off"},
                              {"grace", "1m"},
                              {"same_server", "allow"}});
  EXPECT_EQ(options.drift, 0.05);
  EXPECT_EQ(options.timeout, 50ms);
  EXPECT_EQ(options.retry_delay, 100ms);
  EXPECT_EQ(options.retry_jitter, 0ms);
  EXPECT_EQ(options.retries, 0U);
  EXPECT_FALSE(options.fences);
  EXPECT_EQ(options.grace, 1min);
  EXPECT_TRUE(options.allow_same_server);
}

TEST(QuorumOptions, are_taken_out_and_the_rest_stays_for_the_members) {
  Given given{{"drift", "0.02"}, {"db", "3"}, {"timeout", "1s"}, {"ca", "/etc/ca.pem"}};
  ASSERT_TRUE(take_options(given).has_value());
  EXPECT_EQ(given, (Given{{"db", "3"}, {"ca", "/etc/ca.pem"}}));
}

TEST(QuorumOptions, have_limits_that_are_allowed_themselves) {
  EXPECT_EQ(taken({{"drift", "0.01"}}).drift, 0.01);
  EXPECT_EQ(taken({{"drift", "0.5"}}).drift, 0.5);
  EXPECT_EQ(taken({{"timeout", "5ms"}}).timeout, 5ms);
  EXPECT_EQ(taken({{"timeout", "10s"}}).timeout, 10s);
  EXPECT_EQ(taken({{"retry_delay", "0ms"}}).retry_delay, 0ms);
  EXPECT_EQ(taken({{"retry_delay", "1m"}}).retry_delay, 60s);
  EXPECT_EQ(taken({{"retry_jitter", "60s"}}).retry_jitter, 60s);
  EXPECT_EQ(taken({{"retries", "1000"}}).retries, 1000U);
  EXPECT_EQ(taken({{"grace", "24h"}}).grace, 24h);
  EXPECT_TRUE(taken({{"fence", "on"}}).fences);
  EXPECT_FALSE(taken({{"same_server", "refuse"}}).allow_same_server);
}

TEST(QuorumOptions, out_of_their_limits_are_refused_by_name) {
  const std::pair<std::string, std::string> bad[] = {
      {"drift", ""},          {"drift", "0"},        {"drift", "0.009"},
      {"drift", "0.51"},      {"drift", "nan"},      {"drift", "inf"},
      {"drift", "-0.01"},     {"drift", "0.02x"},    {"drift", "1%"},
      {"timeout", ""},        {"timeout", "4ms"},    {"timeout", "11s"},
      {"timeout", "-1s"},     {"timeout", "200"},    {"retry_delay", "x"},
      {"retry_delay", "61s"}, {"retry_jitter", "x"}, {"retry_jitter", "2m"},
      {"retries", "-1"},      {"retries", "1001"},   {"retries", "1.5"},
      {"retries", ""},        {"retries", "many"},   {"retries", "99999999999"},
      {"fence", "yes"},       {"fence", ""},         {"fence", "ON"},
      {"grace", "25h"},       {"grace", "soon"},     {"same_server", "yes"},
      {"same_server", ""}};
  for (const auto& [option, value] : bad) {
    Given given{{option, value}};
    const auto options = take_options(given);
    ASSERT_FALSE(options.has_value()) << option << "=" << value;
    EXPECT_EQ(options.error().code, Errc::bad_input);
    EXPECT_NE(options.error().message.find("option '" + option + "' must be"), std::string::npos)
        << options.error().message;
  }
}

}  // namespace
}  // namespace holdfast::backends::quorum
