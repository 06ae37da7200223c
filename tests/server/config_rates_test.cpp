// SPDX-License-Identifier: Apache-2.0
//
// server.rate_limits of a configuration file.
#include "server/config_rates.hpp"

#include "config_fixture.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

const std::string before_rates = "server:\n  rate_limits:\n";

Result<ServerOptions> load_rates(const std::string& entries) {
  return options_in(before_rates + entries);
}

std::string rate_refusal(const std::string& entry) {
  return refusal_of(before_rates + fmt::format("    - {{{}}}\n", entry));
}

TEST(ConfigRates, are_read_with_all_their_keys) {
  const auto options = load_rates(
      "    - {path: /v1/locks/*, rate: 100/s}\n"
      "    - path: \"/v1/locks/{name}/acquire\"\n"
      "      rate: 20/m\n"
      "      burst: 5\n"
      "      per: address\n"
      "      without_store: allow\n"
      "    - {path: /v1/stats, rate: 1/5s, algorithm: fixed_window, per: all}\n");
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(options->rate_limits.size(), 3U);
  const auto& [first, second, third] =
      std::tie(options->rate_limits[0], options->rate_limits[1], options->rate_limits[2]);
  EXPECT_EQ(first.path, "/v1/locks/*");
  EXPECT_EQ(first.rule, (RateRule{.limit = 100, .window = 1s}));
  EXPECT_EQ(first.per, EndpointLimit::Per::token);
  EXPECT_EQ(first.without_store, EndpointLimit::WithoutStore::refuse);
  EXPECT_EQ(second.rule.algorithm, RateAlgorithm::token_bucket);
  EXPECT_EQ(second.rule.burst, 5U);
  EXPECT_EQ(second.per, EndpointLimit::Per::address);
  EXPECT_EQ(second.without_store, EndpointLimit::WithoutStore::allow);
  EXPECT_EQ(third.rule.algorithm, RateAlgorithm::fixed_window);
  EXPECT_EQ(third.per, EndpointLimit::Per::all);
  EXPECT_TRUE(check(*options));
}

TEST(ConfigRates, are_refused_with_their_line_and_the_rule) {
  const std::string begin = "config.yml:3: server.rate_limits[0]";
  const std::pair<std::string, std::string> cases[] = {
      {"rate: 1/s", " needs path"},
      {"path: /v1/stats", " needs rate"},
      {"path: /v1/stats, rate: 10",
       ": rate \"10\" has no slash; write a number of hits, a slash and a time (ms, s, m, h, d), "
       "such as 10/s or 100/5m"},
      {"path: /v1/stats, rate: 1/s, algorithm: leaky",
       ": algorithm: must be fixed_window, sliding_window or token_bucket; got \"leaky\""},
      {"path: /v1/stats, rate: 1/s, algorithm: fixed_window, burst: 2",
       ": burst: only a token_bucket has one"},
      {"path: /v1/stats, rate: 1/s, burst: 0",
       ".burst must be an integer from 1 to 1000000000; got \"0\""},
      {"path: /v1/stats, rate: 1/s, per: user",
       ".per must be token or address or all; got \"user\""},
      {"path: /v1/stats, rate: 1/s, without_store: maybe",
       ".without_store must be refuse or allow; got \"maybe\""},
      {"path: /v1/stats, rate: 1/s, limit: 3", " has the unknown key \"limit\""},
      {"path: /health, rate: 1/s", ": path \"/health\" is never limited"},
      {"path: /metrics, rate: 1/s", ": path \"/metrics\" is never limited"},
      {"path: /v1/lock/*, rate: 1/s",
       ": path \"/v1/lock/*\" has no endpoint; write it as /openapi.json does, such as "
       "/v1/locks/{name}/acquire, or /v1/locks/* for all below"},
  };
  for (const auto& [entry, reason] : cases) EXPECT_EQ(rate_refusal(entry), begin + reason);
  for (const auto* path :
       {"v1/stats", "/v1/stats/", "/v1/sta*", "*", "/v1/locks/nightly", "/V1/*"}) {
    EXPECT_NE(rate_refusal(fmt::format("path: \"{}\", rate: 1/s", path)).find("has no endpoint"),
              std::string::npos);
  }
}

TEST(ConfigRates, are_a_list_without_doubles_and_not_too_long) {
  const auto one = load_rates("    path: /v1/stats\n");
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().message, "config.yml:2: server.rate_limits must be a list");
  const auto twice = load_rates("    - {path: /v1/*, rate: 1/s}\n    - {path: /v1/*, rate: 2/s}\n");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message,
            "config.yml:4: server.rate_limits[1]: path \"/v1/*\" has two limits per token with the "
            "same window; keep the smaller one");
  EXPECT_TRUE(load_rates("    - {path: /v1/*, rate: 1/s}\n    - {path: /v1/*, rate: 20/m}\n"));
  std::string many;
  for (std::size_t each = 1; each <= max_endpoint_limits; ++each) {
    many += fmt::format("    - {{path: /v1/*, rate: 1/{}s}}\n", each);
  }
  EXPECT_TRUE(load_rates(many));
  const auto too_many = load_rates(many + "    - {path: /v1/*, rate: 1/h}\n");
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().message,
            "config.yml:2: server.rate_limits must have at most 100 entries");
}

TEST(ConfigRates, given_by_a_program_are_checked_too) {
  ServerOptions options;
  options.rate_limits.push_back({.path = "/nowhere", .rule = {.limit = 1, .window = 1s}});
  EXPECT_FALSE(check(options));
  options.rate_limits = {{.path = "/v1/*", .rule = {.limit = 0, .window = 1s}}};
  EXPECT_FALSE(check(options));
  options.rate_limits = {{.path = "/v1/*", .rule = {.limit = 1, .window = 1s}}};
  EXPECT_TRUE(check(options));
}

TEST(ConfigRates, a_path_covers_itself_or_what_is_below_it) {
  EXPECT_TRUE(covers("/v1/stats", "/v1/stats"));
  EXPECT_TRUE(covers("/*", "/v1/stats"));
  EXPECT_TRUE(covers("/v1/locks/*", "/v1/locks/{name}"));
  EXPECT_FALSE(covers("/v1/locks/*", "/v1/locks"));
  EXPECT_FALSE(covers("/v1/locks/*", "/v1/locks:acquire-all"));
  EXPECT_FALSE(covers("/v1/stats", "/v1/stats/more"));
}

}  // namespace
}  // namespace holdfast::server
